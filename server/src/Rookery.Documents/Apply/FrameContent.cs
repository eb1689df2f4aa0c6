using System.Buffers.Binary;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Apply;

/// <summary>
/// What the payload of a batch frame holds: <c>[u64 log time][u32 count]([u32 length][command])*</c>, little-endian.
/// The highest bit of the time says that it is not steady.
/// </summary>
public ref struct FrameContent
{
    /// <summary>Bytes before the first command.</summary>
    public const int HeadBytes = sizeof(long) + sizeof(uint);

    /// <summary>Bytes before each command.</summary>
    public const int CommandHeadBytes = sizeof(uint);

    private const long NotSteady = long.MinValue;

    private ReadOnlySpan<byte> _rest;

    /// <summary>Reads the head of a frame's content.</summary>
    /// <exception cref="CommandFormatException">It is too short.</exception>
    public FrameContent(ReadOnlySpan<byte> content)
    {
        if (content.Length < HeadBytes)
        {
            throw new CommandFormatException("A frame of the journal is too short to hold its head.");
        }

        long time = BinaryPrimitives.ReadInt64LittleEndian(content);
        (LogTicks, IsSteady) = (time & ~NotSteady, (time & NotSteady) == 0);
        Count = BinaryPrimitives.ReadInt32LittleEndian(content[sizeof(long)..]);
        _rest = content[HeadBytes..];
    }

    /// <summary>The time at which everything in the frame happens, in UTC ticks.</summary>
    public long LogTicks { get; }

    /// <summary>
    /// Whether no more lies between the time of the frame before and this one than passed. Else what is older may be
    /// younger than it seems.
    /// </summary>
    public bool IsSteady { get; }

    /// <summary>Commands in the frame.</summary>
    public int Count { get; }

    /// <summary>The next command; to be called <see cref="Count"/> times.</summary>
    /// <exception cref="CommandFormatException">The content ends within it.</exception>
    public ReadOnlySpan<byte> Next()
    {
        int length = _rest.Length < CommandHeadBytes ? -1 : BinaryPrimitives.ReadInt32LittleEndian(_rest);
        if (length < 0 || length > _rest.Length - CommandHeadBytes)
        {
            throw new CommandFormatException("A frame of the journal ends within a command.");
        }

        var command = _rest.Slice(CommandHeadBytes, length);
        _rest = _rest[(CommandHeadBytes + length)..];
        return command;
    }

    /// <summary>The content of a frame of one command.</summary>
    public static byte[] Of(long logTicks, ReadOnlySpan<byte> command)
    {
        byte[] content = new byte[HeadBytes + CommandHeadBytes + command.Length];
        WriteHead(content, logTicks, isSteady: true, 1);
        BinaryPrimitives.WriteInt32LittleEndian(content.AsSpan(HeadBytes), command.Length);
        command.CopyTo(content.AsSpan(HeadBytes + CommandHeadBytes));
        return content;
    }

    /// <summary>Writes what stands before the first command.</summary>
    public static void WriteHead(Span<byte> destination, long logTicks, bool isSteady, int count)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, isSteady ? logTicks : logTicks | NotSteady);
        BinaryPrimitives.WriteInt32LittleEndian(destination[sizeof(long)..], count);
    }
}
