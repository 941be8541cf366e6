//! What several tests use.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

/// The report as a user sees it, without colours.
pub fn report(diagnostic: &dyn Diagnostic) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    let mut text = String::new();
    handler.render_report(&mut text, diagnostic).expect("a report");
    text
}
