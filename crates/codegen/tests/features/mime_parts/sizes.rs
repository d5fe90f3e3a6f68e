const _: () = assert!(size_of::<Claim>() <= 32 && 32 <= 1024);
