using System.Buffers.Binary;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Apply;

/// <summary>
/// Reads the payload of an entry of commands: <c>[u64 log time][u32 count]([u32 length][command])*</c>, little-endian.
/// The highest bit of the log time is set if the time is not steady (<see cref="IsSteady"/>).
/// </summary>
public ref struct EntryContent
{
    /// <summary>Bytes before the first command.</summary>
    public const int HeadBytes = sizeof(long) + sizeof(uint);

    /// <summary>Bytes before each command.</summary>
    public const int CommandHeadBytes = sizeof(uint);

    private const long NotSteady = long.MinValue; // the highest bit

    private ReadOnlySpan<byte> _unread;

    /// <summary>Reads the header of the payload.</summary>
    /// <exception cref="CommandFormatException">The payload is shorter than its header.</exception>
    public EntryContent(ReadOnlySpan<byte> content)
    {
        if (content.Length < HeadBytes)
        {
            throw new CommandFormatException("An entry of the journal is too short to hold its head.");
        }

        long time = BinaryPrimitives.ReadInt64LittleEndian(content);
        (LogTicks, IsSteady) = (time & ~NotSteady, (time & NotSteady) == 0);
        Count = BinaryPrimitives.ReadInt32LittleEndian(content[sizeof(long)..]);
        _unread = content[HeadBytes..];
    }

    /// <summary>The log time of all commands in the entry, in UTC ticks.</summary>
    public long LogTicks { get; }

    /// <summary>
    /// Whether the time since the previous entry's log time really passed. If not, because a clock was wrong, ages
    /// computed across this entry may be too high.
    /// </summary>
    public bool IsSteady { get; }

    /// <summary>Number of commands in the entry.</summary>
    public int Count { get; }

    /// <summary>Reads the next command. Call it at most <see cref="Count"/> times.</summary>
    /// <exception cref="CommandFormatException">The payload ends within the command.</exception>
    public ReadOnlySpan<byte> Next()
    {
        int length = _unread.Length < CommandHeadBytes ? -1 : BinaryPrimitives.ReadInt32LittleEndian(_unread);
        if (length < 0 || length > _unread.Length - CommandHeadBytes)
        {
            throw new CommandFormatException("An entry of the journal ends within a command.");
        }

        var command = _unread.Slice(CommandHeadBytes, length);
        _unread = _unread[(CommandHeadBytes + length)..];
        return command;
    }

    /// <summary>Encodes the payload of an entry with one command.</summary>
    public static byte[] Of(long logTicks, ReadOnlySpan<byte> command)
    {
        byte[] content = new byte[HeadBytes + CommandHeadBytes + command.Length];
        WriteHead(content, logTicks, isSteady: true, count: 1);
        BinaryPrimitives.WriteInt32LittleEndian(content.AsSpan(HeadBytes), command.Length);
        command.CopyTo(content.AsSpan(HeadBytes + CommandHeadBytes));
        return content;
    }

    /// <summary>Writes the header, which precedes the first command.</summary>
    public static void WriteHead(Span<byte> destination, long logTicks, bool isSteady, int count)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, isSteady ? logTicks : logTicks | NotSteady);
        BinaryPrimitives.WriteInt32LittleEndian(destination[sizeof(long)..], count);
    }
}
