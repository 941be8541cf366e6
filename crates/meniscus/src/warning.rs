//! What a substep is told to have gone wrong with, in words and as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// What a user should know of a substep. Written out, it is what is wrong and what helps.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The frame needs more substeps than it may have.
    FewSubsteps {
        /// How many more it needs.
        wanted: f64,
        /// How many more it may have.
        allowed: f64,
        /// `time.max_substeps`.
        most: u32,
        /// Cells that the liquid moves in one of those.
        cells: f64,
    },
    /// Particles were inside solids with no way out.
    LostParticles {
        /// How many.
        count: usize,
    },
    /// Which contacts of bodies press was not found.
    UnsettledContacts {
        /// Points where bodies touch.
        touches: usize,
        /// Rounds that were tried.
        rounds: usize,
    },
    /// A source pours into liquid that has no way out.
    SourceBlocked {
        /// Its name.
        source: String,
        /// The part of what it should pour that there is no room for.
        refused: f64,
    },
    /// A source pours into a closed room and compresses its air.
    SourceCompressesAir {
        /// Its name.
        source: String,
    },
    /// Liquid that has no way out is squeezed or stretched.
    LiquidSqueezed {
        /// The solids and bodies that do it; none if it is the walls.
        by: Vec<String>,
    },
    /// The air of a closed room is compressed or stretched.
    AirCompressed {
        /// The solids and bodies that do it; none if it is the walls.
        by: Vec<String>,
    },
    /// The volume of the liquid is off by so much that what is seen is not to be trusted.
    VolumeOff {
        /// By how much, as a part of what it should be.
        part: f64,
        /// What it should be, in cells.
        cells: f64,
    },
    /// A drawn mode was left out: the modes before it hold all of what was drawn.
    ModeHoldsNothing {
        /// Its name.
        mode: String,
    },
    /// Fewer modes were learnt than were asked for: there was nothing more to learn.
    FewModesLearnt {
        /// The name that they have.
        mode: String,
        /// How many were asked for.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// Something presses a body into a wall.
    BodyInWall {
        /// Its name.
        body: String,
    },
}

/// What a warning is about, as data.
struct Parts<'a> {
    kind: &'static str,
    names: Vec<&'a str>,
    numbers: BTreeMap<&'static str, f64>,
}

impl Warning {
    /// Tells those of one kind from others, such as `lost-particles`.
    pub fn kind(&self) -> &'static str {
        self.parts().kind
    }

    /// The names of solids, bodies or sources that it is about.
    pub fn names(&self) -> Vec<&str> {
        self.parts().names
    }

    /// Its numbers by name.
    pub fn numbers(&self) -> BTreeMap<&'static str, f64> {
        self.parts().numbers
    }

    fn parts(&self) -> Parts<'_> {
        let parts = |kind, names: Vec<_>, numbers: &[(&'static str, f64)]| {
            let numbers = numbers.iter().copied().collect();
            Parts { kind, names, numbers }
        };
        match self {
            Self::FewSubsteps { wanted, allowed, most, cells } => {
                let most = f64::from(*most);
                let numbers = [("wanted", *wanted), ("allowed", *allowed), ("most", most), ("cells", *cells)];
                parts("few-substeps", vec![], &numbers)
            }
            Self::LostParticles { count } => parts("lost-particles", vec![], &[("count", *count as f64)]),
            Self::UnsettledContacts { touches, rounds } => {
                let numbers = [("touches", *touches as f64), ("rounds", *rounds as f64)];
                parts("unsettled-contacts", vec![], &numbers)
            }
            Self::SourceBlocked { source, refused } => {
                parts("source-blocked", vec![source], &[("refused", *refused)])
            }
            Self::SourceCompressesAir { source } => parts("source-compresses-air", vec![source], &[]),
            Self::LiquidSqueezed { by } => {
                parts("liquid-squeezed", by.iter().map(String::as_str).collect(), &[])
            }
            Self::AirCompressed { by } => {
                parts("air-compressed", by.iter().map(String::as_str).collect(), &[])
            }
            Self::VolumeOff { part, cells } => {
                parts("volume-off", vec![], &[("part", *part), ("cells", *cells)])
            }
            Self::ModeHoldsNothing { mode } => parts("mode-holds-nothing", vec![mode], &[]),
            Self::FewModesLearnt { mode, wanted, found } => {
                let numbers = [("wanted", *wanted as f64), ("found", *found as f64)];
                parts("few-modes-learnt", vec![mode], &numbers)
            }
            Self::BodyInWall { body } => parts("body-in-wall", vec![body], &[]),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            kind: &'static str,
            names: Vec<&'a str>,
            numbers: BTreeMap<&'static str, f64>,
        }
        let Parts { kind, names, numbers } = self.parts();
        Written { kind, names, numbers }.serialize(serializer)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::FewSubsteps { wanted, allowed, most, cells } => write!(
                f,
                "the frame needs {wanted} more substeps, but time.max_substeps = {most} leaves {allowed}: the liquid moves \
                 up to {cells:.1} cells in one; raise time.max_substeps"
            ),
            Self::LostParticles { count: 1 } => write!(f, "1 particle was lost inside solids and removed"),
            Self::LostParticles { count } => {
                write!(f, "{count} particles were lost inside solids and removed")
            }
            Self::UnsettledContacts { touches, rounds } => write!(
                f,
                "which of {touches} contacts of bodies press was not found in {rounds} rounds: some bodies are off by what these push; \
                 smaller steps (time.cfl) make it easier"
            ),
            Self::SourceBlocked { source, refused } => {
                let how_much =
                    if *refused == 1.0 { "nothing" } else { "only what moving walls make room for" };
                write!(
                    f,
                    "the source `{source}` pours {how_much}: what is around it has no room for more and no way out; give it an open side, or a \
                     free surface with air that gives way"
                )
            }
            Self::SourceCompressesAir { source } => write!(
                f,
                "the source `{source}` pours into a closed room: it compresses its air, which takes it without resistance; leave the room \
                 an opening"
            ),
            Self::LiquidSqueezed { by } => write!(
                f,
                "{} squeezes or stretches liquid that has no way out: it keeps its volume only on average; give it a free \
                 surface or an open side, or move the solid less",
                those(by)
            ),
            Self::AirCompressed { by } => write!(
                f,
                "{} compresses or stretches the air of a closed room, which takes it without resistance; to have it \
                 push back, leave the room an opening",
                those(by)
            ),
            Self::VolumeOff { part, cells } => write!(
                f,
                "the liquid's volume is off by {:+.1} %: it should be that of {cells:.0} cells; raise domain.cells if it is few, or \
                 time.max_substeps if it moves far in one",
                100.0 * part
            ),
            Self::ModeHoldsNothing { mode } => {
                write!(f, "the drawn mode `{mode}` was left out: the modes before it hold all that was drawn")
            }
            Self::FewModesLearnt { mode, wanted, found } => write!(
                f,
                "only {found} modes `{mode}` were learnt instead of {wanted}: these and the modes before them hold all of the frames"
            ),
            Self::BodyInWall { body } => write!(
                f,
                "the body `{body}` is pressed into a solid or a side of the domain, and the liquid does not see what is in there; \
                 leave it room, or move the solid that presses it less"
            ),
        }
    }
}

fn those(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "its walls".into() } else { names.join(" and ") }
}

/// Writes warnings in words and as data, the latter only where there are any.
pub(crate) fn in_words_and_as_data<S: Serializer>(
    warnings: &[Warning],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Written<'a> {
        warnings: Vec<String>,
        #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
        warning_data: &'a [Warning],
    }
    let words = warnings.iter().map(Warning::to_string).collect();
    Written { warnings: words, warning_data: warnings }.serialize(serializer)
}
