const _: () = assert!(size_of::<FeatureHeader>() <= 32 && 32 <= 1024);
