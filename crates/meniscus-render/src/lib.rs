//! Pictures of a liquid without a GPU or a display.
