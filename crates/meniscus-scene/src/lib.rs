//! Scene files: schema, diagnostics, the built-in gallery.
