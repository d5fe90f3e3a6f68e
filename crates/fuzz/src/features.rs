//! Modules of the generator's tests, for features that no contract of the suites has.
#![allow(dead_code, missing_docs, reason = "neither clients nor all types are for fuzzing")]

macro_rules! feature {
    ($feature:ident) => {
        pub(crate) mod $feature {
            include!(concat!("../../codegen/tests/features/", stringify!($feature), "/expected.rs"));
        }
    };
}

feature!(addressing);
feature!(encoded);
feature!(header_blocks);
feature!(rpc_literal);
