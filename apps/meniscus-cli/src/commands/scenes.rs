//! `meniscus scenes`.

use meniscus::{Scene, gallery};

use crate::cli::{ScenesArgs, print_line};
use crate::failure::Failure;

/// Lists the gallery, or prints one scene.
pub fn scenes(args: &ScenesArgs) -> Result<(), Failure> {
    if args.schema {
        print_line(&serde_json::to_string_pretty(&meniscus::schema()).expect("a schema is plain data"));
        return Ok(());
    }
    match &args.name {
        Some(name) => {
            Scene::gallery(name, &[])?;
            print_line(gallery::text(name).unwrap_or_default().trim_end());
        }
        None => {
            let width = gallery::names().map(str::len).max().unwrap_or(0);
            for name in gallery::names() {
                print_line(&format!("{name:width$}  {}", gallery::description(name).unwrap_or_default()));
            }
        }
    }
    Ok(())
}
