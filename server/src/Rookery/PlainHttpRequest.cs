using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Rookery;

/// <summary>
/// Sends one request over plain HTTP to a numeric IPv4 address, by system calls: loading and compiling .NET's sockets
/// would take longer than the whole exchange.
/// </summary>
internal static unsafe partial class PlainHttpRequest
{
    private const int MaxResponseBytes = 1 << 20;
    private const int FirstBufferBytes = 16 << 10;

    // Constants of socket(2), socket(7), ip(7) and send(2), the same on Linux for x86-64 and arm64.
    private const int Internet = 2;
    private const int StreamAndCloseOnExec = 1 | 0x80000;
    private const int SocketLevel = 1;
    private const int ReceiveTimeout = 20;
    private const int SendTimeout = 21;
    private const int NoSignal = 0x4000;
    private const int AddressBytes = 16;

    /// <summary>Parses an address such as "127.0.0.1:8080".</summary>
    /// <param name="text">The text.</param>
    /// <param name="address">The IPv4 address, most significant byte first.</param>
    /// <param name="port">The port.</param>
    /// <returns>False for any other form.</returns>
    public static bool TryReadAddress(string text, out uint address, out ushort port)
    {
        (address, port) = (0, 0);
        int position = 0;
        for (int part = 0; part < 4; part++)
        {
            if (!TryReadNumber(text, ref position, part < 3 ? '.' : ':', byte.MaxValue, out int value))
            {
                return false;
            }

            address = (address << 8) | (uint)value;
        }

        bool isRead = TryReadNumber(text, ref position, '\0', ushort.MaxValue, out int number);
        port = (ushort)number;
        return isRead && port != 0;
    }

    /// <summary>
    /// Sends a request and returns the bytes received until the server closed the connection; null if it failed.
    /// </summary>
    /// <param name="address">The server's address, most significant byte first.</param>
    /// <param name="port">The server's port.</param>
    /// <param name="request">The bytes to send.</param>
    /// <param name="timeout">The time limit of the connection, and then of the whole response.</param>
    /// <param name="length">The number of bytes received; the returned array may be longer.</param>
    public static byte[]? Exchange(
        uint address,
        ushort port,
        ReadOnlySpan<byte> request,
        TimeSpan timeout,
        out int length
    )
    {
        length = 0;
        int socket = Open(Internet, StreamAndCloseOnExec, protocol: 0);
        if (socket < 0)
        {
            return null;
        }

        try
        {
            // struct sockaddr_in: u16 family, then port and address in network order, then zeros.
            byte* to = stackalloc byte[AddressBytes];
            var written = new Span<byte>(to, AddressBytes);
            written.Clear();
            to[0] = Internet;
            BinaryPrimitives.WriteUInt16BigEndian(written[2..], port);
            BinaryPrimitives.WriteUInt32BigEndian(written[4..], address);
            if (
                !SetTimeout(socket, SendTimeout, (long)timeout.TotalMilliseconds)
                || Connect(socket, to, AddressBytes) != 0
            )
            {
                return null;
            }

            fixed (byte* from = request)
            {
                // A few bytes fit into the empty send buffer, so they are sent completely or not at all.
                if (Send(socket, from, (nuint)request.Length, NoSignal) != request.Length)
                {
                    return null;
                }
            }

            return Receive(socket, TimeProvider.System.GetTimestamp(), timeout, out length);
        }
        finally
        {
            _ = Close(socket);
        }
    }

    private static byte[]? Receive(int socket, long startedAt, TimeSpan timeout, out int length)
    {
        byte[] answer = new byte[FirstBufferBytes];
        length = 0;
        while (true)
        {
            // Each receive gets only the remaining time. Otherwise a server that sends a byte now and then could hold
            // the command without end.
            long remaining = (long)(timeout - TimeProvider.System.GetElapsedTime(startedAt)).TotalMilliseconds;
            if (remaining <= 0 || !SetTimeout(socket, ReceiveTimeout, remaining))
            {
                return null;
            }

            nint read;
            fixed (byte* to = answer)
            {
                read = Receive(socket, to + length, (nuint)(answer.Length - length), flags: 0);
            }

            if (read <= 0)
            {
                return read == 0 ? answer : null;
            }

            length += (int)read;
            if (length == answer.Length)
            {
                if (length >= MaxResponseBytes)
                {
                    return null;
                }

                byte[] larger = new byte[2 * length];
                answer.AsSpan().CopyTo(larger);
                answer = larger;
            }
        }
    }

    private static bool SetTimeout(int socket, int option, long milliseconds)
    {
        // struct timeval: seconds and microseconds.
        long* time = stackalloc long[] { milliseconds / 1000, milliseconds % 1000 * 1000 };
        return SetOption(socket, SocketLevel, option, time, 2 * sizeof(long)) == 0;
    }

    /// <summary>Reads a number and the character after it, and moves the position past both.</summary>
    /// <param name="text">The text.</param>
    /// <param name="position">Where to read.</param>
    /// <param name="end">The character that must follow; '\0' stands for the end of the text.</param>
    /// <param name="maximum">The greatest allowed number.</param>
    /// <param name="value">The number.</param>
    private static bool TryReadNumber(string text, ref int position, char end, int maximum, out int value)
    {
        value = 0;
        int begin = position;
        while (position < text.Length && char.IsAsciiDigit(text[position]) && value <= maximum)
        {
            value = (10 * value) + (text[position] - '0');
            position++;
        }

        // Leading zeros are refused, because other programs read them as octal numbers.
        bool isNumber = position > begin && value <= maximum && (text[begin] != '0' || position == begin + 1);
        if (end == '\0')
        {
            return isNumber && position == text.Length;
        }

        bool isFollowedByEnd = position < text.Length && text[position] == end;
        position++;
        return isNumber && isFollowedByEnd;
    }

    [LibraryImport("libc", EntryPoint = "socket")]
    private static partial int Open(int domain, int type, int protocol);

    [LibraryImport("libc", EntryPoint = "setsockopt")]
    private static partial int SetOption(int socket, int level, int option, void* value, uint length);

    [LibraryImport("libc", EntryPoint = "connect")]
    private static partial int Connect(int socket, byte* address, uint length);

    [LibraryImport("libc", EntryPoint = "send")]
    private static partial nint Send(int socket, byte* bytes, nuint count, int flags);

    [LibraryImport("libc", EntryPoint = "recv")]
    private static partial nint Receive(int socket, byte* bytes, nuint count, int flags);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int socket);
}
