//! Growth as an exponent: the slope of the line through the points (log N, log seconds), by least squares.
//!
//! Where the cost is about c * N^k the slope is k, whatever c is. Where it grows faster than any power, the slope only describes
//! the sizes that were measured. Short runs are left out: they measure the start of a process.

/// Runs shorter than this say nothing about growth, unless a table knows better.
pub(crate) const LEAST_SECONDS: f64 = 0.05;
/// A line goes through any two points, so two say nothing either.
const LEAST_POINTS: usize = 3;

/// The exponent of seconds in the size, from runs of at least so many seconds; nothing if too few points count.
pub(crate) fn exponent(points: &[(i64, f64)], least_seconds: f64) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(size, seconds)| *size > 0 && *seconds >= least_seconds)
        .map(|(size, seconds)| ((*size as f64).ln(), seconds.ln()))
        .collect();
    if logs.len() < LEAST_POINTS {
        return None;
    }
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_recognised_whatever_the_constant() {
        for (constant, power) in [(1.0, 2.0), (0.37, 1.0), (0.02, 3.5), (5.0, 0.0)] {
            let points: Vec<(i64, f64)> = [10, 20, 50, 100]
                .into_iter()
                .map(|n| (n, constant * f64::powf(n as f64, power)))
                .collect();
            let found = exponent(&points, LEAST_SECONDS).unwrap();
            assert!((found - power).abs() < 1e-9, "{found} for {power}");
        }
    }

    #[test]
    fn noise_moves_the_exponent_a_little() {
        let points = [(10, 1.1), (20, 3.7), (40, 17.0), (80, 61.0)];
        let found = exponent(&points, LEAST_SECONDS).unwrap();
        assert!((found - 1.95).abs() < 0.05, "{found}");
    }

    #[test]
    fn short_runs_and_too_few_points_say_nothing() {
        assert_eq!(exponent(&[(10, 1.0), (20, 4.0)], LEAST_SECONDS), None);
        let short = [(10, 0.004), (20, 0.016), (40, 1.0), (80, 4.0)];
        assert_eq!(exponent(&short, LEAST_SECONDS), None);
        assert!(exponent(&short, 0.01).is_some());
        assert_eq!(exponent(&short[..2], 0.001), None);
        assert_eq!(
            exponent(&[(5, 1.0), (5, 2.0), (5, 3.0)], LEAST_SECONDS),
            None
        );
        // The first point would bend the line.
        let found = exponent(&[(1, 0.01), (10, 1.0), (20, 2.0), (40, 4.0)], LEAST_SECONDS).unwrap();
        assert!((found - 1.0).abs() < 1e-9);
    }
}
