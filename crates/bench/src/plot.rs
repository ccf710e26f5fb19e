//! Plots of growth: CPU time against the size, both logarithmic, as SVG: of a row one curve for each column, or what the
//! table asks for.
//!
//! The picture adapts to light and dark pages, has a title and a description for those who do not see it, and tells curves
//! apart by marks as well as by colours. A run that ended at the time limit is an open triangle at the limit, with a dotted line to it.

use std::fmt::Write;

use crate::campaign::{Cell, Cells};
use crate::results::Outcome;
use crate::summary::{curve, growth};
use crate::table::{Row, Table};
use threadwise_show::words::one_line;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 344.0;

/// Colours that remain apart for most kinds of colour blindness: on light pages, and on dark ones.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8c42"),
    ("#007a5a", "#2fc79a"),
    ("#b0508a", "#e59ac6"),
    ("#8a6d00", "#e6c229"),
    ("#5a5a5a", "#b8b8b8"),
    ("#6a3fb5", "#b799f0"),
];

/// A curve.
struct Curve {
    /// What gives colour and mark: the position of the column, or that of the curve if a picture is about several rows.
    style: usize,
    legend: String,
    points: Vec<(i64, f64)>,
    /// The size at which the time limit ended a run.
    over: Option<i64>,
}

/// A picture, with at least one curve of two points.
pub(crate) struct Picture<'a> {
    /// The name of its file.
    pub(crate) file: String,
    /// What it is about.
    pub(crate) name: &'a str,
    /// The parameter that it is against.
    pub(crate) size: &'a str,
    /// The values of that parameter.
    sizes: Vec<f64>,
    curves: Vec<Curve>,
    /// The limit on time.
    limit: f64,
}

/// The pictures of a table: of each row with a sweep, and those that the table asks for.
pub(crate) fn pictures<'a>(table: &'a Table, cells: &'a Cells) -> Vec<Picture<'a>> {
    let rows = table.rows.iter().zip(cells).map(|(row, cells)| {
        let columns = row.columns.iter();
        let curves = columns.filter_map(|&column| {
            let name = table.columns[column].name.clone();
            curve_of(table, row, cells, column, column, name)
        });
        picture(table, &row.name, &[row], curves.collect())
    });
    let wanted = table.plots.iter().map(|plot| {
        let mut curves = Vec::new();
        let mut rows = Vec::new();
        for (row, cells) in table.rows.iter().zip(cells) {
            if !plot.rows.contains(&row.name) {
                continue;
            }
            rows.push(row);
            for (column, about) in table.columns.iter().enumerate() {
                if plot.columns.contains(&about.name) {
                    let name = match plot.columns.len() {
                        1 => row.name.clone(),
                        _ => format!("{}, {}", row.name, about.name),
                    };
                    curves.extend(curve_of(table, row, cells, column, curves.len(), name));
                }
            }
        }
        picture(table, &plot.name, &rows, curves)
    });
    rows.chain(wanted).flatten().collect()
}

/// The picture of these curves; nothing if there is nothing to see.
fn picture<'a>(
    table: &Table,
    name: &'a str,
    rows: &[&'a Row],
    curves: Vec<Curve>,
) -> Option<Picture<'a>> {
    if !curves.iter().any(|curve| curve.points.len() > 1) {
        return None;
    }
    let size = rows.first()?.sweep.as_deref()?;
    let mut sizes: Vec<i64> = rows
        .iter()
        .flat_map(|row| (0..row.instances.len()).filter_map(|instance| row.size(instance)))
        .filter(|size| *size > 0)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let file: String = name.chars().map(letters).collect();
    Some(Picture {
        file: format!("{}-{file}.svg", table.name),
        name,
        size,
        sizes: sizes.into_iter().map(|size| size as f64).collect(),
        curves,
        limit: table.limits.seconds,
    })
}

/// The curve of a column along a row; nothing if it has no point and no end.
fn curve_of(
    table: &Table,
    row: &Row,
    cells: &[Vec<Cell>],
    column: usize,
    style: usize,
    name: String,
) -> Option<Curve> {
    // A run for all sizes has no size of its own.
    if table.columns[column].open {
        return None;
    }
    let points = curve(row, cells, column);
    let over = cells.iter().enumerate().find_map(|(instance, cells)| {
        let Cell::Run(runs) = &cells[column] else {
            return None;
        };
        let over = runs.iter().any(|run| run.outcome == Outcome::Time);
        over.then(|| row.size(instance)).flatten()
    });
    if points.is_empty() && over.is_none() {
        return None;
    }
    Some(Curve {
        style,
        legend: match growth(table, row, cells, column) {
            Some(growth) => format!("{name}: {growth}"),
            None => name,
        },
        points,
        over,
    })
}

/// A logarithmic axis: values in a range of the picture.
struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn at(&self, value: f64) -> f64 {
        let part = (value.ln() - self.least.ln()) / (self.most.ln() - self.least.ln());
        self.from + part * (self.to - self.from)
    }
}

/// A picture as SVG.
pub(crate) fn svg(picture: &Picture<'_>) -> String {
    let Picture {
        curves,
        size,
        sizes,
        limit,
        ..
    } = picture;
    let seconds = curves.iter().flat_map(|curve| &curve.points).map(|p| p.1);
    let over = curves.iter().filter(|curve| curve.over.is_some());
    let seconds: Vec<f64> = seconds.chain(over.map(|_| *limit)).collect();
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    // Whole decades of seconds, at least one.
    let lowest = least(&seconds).max(1e-4).log10().floor() as i32;
    let highest = (most(&seconds).max(1e-3).log10().ceil() as i32).max(lowest + 1);
    let (x, y) = (
        Axis {
            least: least(sizes) * 0.95,
            most: most(sizes) * 1.05,
            from: LEFT,
            to: RIGHT,
        },
        Axis {
            least: 10f64.powi(lowest),
            most: 10f64.powi(highest),
            from: BOTTOM,
            to: TOP,
        },
    );
    let title = format!("{}: CPU seconds against {size}", picture.name);
    let mut svg = head(&title, &description(curves, size));
    for decade in lowest..=highest {
        let value = 10f64.powi(decade);
        let at = y.at(value);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    let mut last_label = f64::NEG_INFINITY;
    for size in sizes {
        let at = x.at(*size);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{BOTTOM}\"/>"
        );
        // Labels that would run into each other are left out.
        if at - last_label > 28.0 {
            last_label = at;
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{size}</text>",
                BOTTOM + 20.0
            );
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 42.0,
        escaped(size)
    );
    for (position, curve) in curves.iter().enumerate() {
        let places: Vec<(f64, f64)> = curve
            .points
            .iter()
            .filter(|(size, _)| *size > 0)
            .map(|(size, seconds)| (x.at(*size as f64), y.at(seconds.max(y.least))))
            .collect();
        let line: Vec<String> = places
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let colour = curve.style % COLOURS.len();
        let _ = writeln!(svg, "<g class=\"c{colour}\">");
        let _ = writeln!(svg, "<polyline points=\"{}\"/>", line.join(" "));
        for (x, y) in &places {
            mark(&mut svg, curve.style, *x, *y);
        }
        if let Some(size) = curve.over.filter(|size| *size > 0) {
            // Beside each other where several end at the same size.
            let x = x.at(size as f64) + 5.0 * position as f64;
            let y = y.at(*limit);
            if let Some((from_x, from_y)) = places.last() {
                let _ = writeln!(
                    svg,
                    "<line stroke-dasharray=\"3 4\" x1=\"{from_x:.1}\" y1=\"{from_y:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\"/>"
                );
            }
            let _ = writeln!(
                svg,
                "<path class=\"open\" d=\"M{:.1} {:.1}h12l-6 -11z\"/>",
                x - 6.0,
                y + 5.0
            );
        }
        let at = TOP + 10.0 + 24.0 * position as f64;
        mark(&mut svg, curve.style, RIGHT + 24.0, at);
        let _ = writeln!(
            svg,
            "</g>\n<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            RIGHT + 38.0,
            at + 4.0,
            escaped(&curve.legend)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn head(title: &str, description: &str) -> String {
    let (title, description) = (escaped(title), escaped(description));
    let colours = |dark: bool| {
        let numbered = COLOURS.iter().enumerate();
        let rules = numbered.map(|(number, (on_light, on_dark))| {
            let colour = if dark { on_dark } else { on_light };
            format!(".c{number}{{stroke:{colour};fill:{colour}}}")
        });
        rules.collect::<String>()
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         role=\"img\" aria-labelledby=\"title description\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"description\">{description}</desc>\n\
         <style>\n\
         svg{{background:#ffffff}}text{{font:13px sans-serif;fill:#1f2328}}.grid{{stroke:#d0d7de;stroke-width:1}}\n\
         polyline,.open{{fill:none;stroke-width:2}}{}\n\
         @media (prefers-color-scheme:dark){{svg{{background:#0d1117}}text{{fill:#e6edf3}}.grid{{stroke:#30363d}}{}polyline,.open{{fill:none}}}}\n\
         </style>\n\
         <text x=\"{LEFT}\" y=\"22\">{title}</text>\n",
        colours(false),
        colours(true)
    )
}

/// What the curves show, in words.
fn description(curves: &[Curve], size: &str) -> String {
    let mut words = Vec::new();
    for curve in curves {
        let ends = curve.points.first().zip(curve.points.last());
        let mut text = curve.legend.clone();
        if let Some((first, last)) = ends {
            let _ = write!(
                text,
                ", {:.3} s at {size}={} and {:.3} s at {size}={}",
                first.1, first.0, last.1, last.0
            );
        }
        if let Some(over) = curve.over {
            let _ = write!(text, ", over the time limit at {size}={over}");
        }
        words.push(text);
    }
    format!("{}.", words.join("; "))
}

/// The mark of a curve.
fn mark(svg: &mut String, style: usize, x: f64, y: f64) {
    let _ = match style % 4 {
        0 => writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        1 => writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>",
            x - 4.0,
            y - 4.0
        ),
        2 => writeln!(svg, "<path d=\"M{:.1} {y:.1}l5 -5l5 5l-5 5z\"/>", x - 5.0),
        _ => writeln!(svg, "<path d=\"M{:.1} {:.1}h10l-5 9z\"/>", x - 5.0, y - 4.0),
    };
}

fn escaped(text: &str) -> String {
    // A control character is not allowed in XML, in whatever form.
    one_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
