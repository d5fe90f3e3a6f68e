const _: () = assert!(size_of::<Value>() <= 20 && 20 <= 1024);
