import com.example.rooms.Room;
import com.example.rooms.Rooms;
import com.example.rooms.Rooms_Service;
import com.example.rooms.View;

public class Client {
    public static void main(String[] arguments) throws Exception {
        Rooms rooms = new Rooms_Service().getRoomsSoap();
        for (Room room : rooms.free(View.SEA)) {
            System.out.println("room " + room.getNumber() + " costs " + room.getPrice());
        }
        System.out.println("booking " + rooms.book(1, "Ann"));
    }
}
