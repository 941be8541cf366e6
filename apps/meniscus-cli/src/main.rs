//! The `meniscus` command.

fn main() -> std::process::ExitCode {
    meniscus_cli::cli::main()
}
