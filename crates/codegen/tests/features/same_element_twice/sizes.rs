const _: () = assert!(size_of::<Value>() <= 24 && 24 <= 1024);
