const _: () = assert!(size_of::<Value>() <= 56 && 56 <= 1024);
