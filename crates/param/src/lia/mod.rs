//! A solver for linear integer arithmetic that proves what it refutes.
