const _: () = assert!(size_of::<Value>() <= 4 && 4 <= 1024);
