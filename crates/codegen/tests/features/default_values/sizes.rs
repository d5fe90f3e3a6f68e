const _: () = assert!(size_of::<Value>() <= 64 && 64 <= 1024);
