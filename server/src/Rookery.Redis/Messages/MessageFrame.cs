using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Redis.Messages;

/// <summary>
/// A published message between members: <c>[channel length u32][message length u32][channel][message]</c>.
/// </summary>
internal static class MessageFrame
{
    /// <summary>
    /// Longest message with its channel, in bytes. Subscribers and members that lag a little must have room for some.
    /// </summary>
    public const int MaxBytes = 1 << 20;

    private const int HeadBytes = 2 * sizeof(uint);

    /// <summary>Appends a message.</summary>
    public static void Append(PooledBytes to, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        var head = to.Reserve(HeadBytes);
        BinaryPrimitives.WriteInt32LittleEndian(head, channel.Length);
        BinaryPrimitives.WriteInt32LittleEndian(head[sizeof(uint)..], message.Length);
        to.Advance(HeadBytes);
        to.Append(channel);
        to.Append(message);
    }

    /// <summary>Reads the next message and removes it from the buffer; false if its rest has not arrived.</summary>
    /// <param name="buffer">Received bytes.</param>
    /// <param name="channel">The channel.</param>
    /// <param name="message">The message.</param>
    /// <exception cref="InvalidDataException">The message is too long.</exception>
    public static bool TryRead(
        ref ReadOnlySequence<byte> buffer,
        out ReadOnlySequence<byte> channel,
        out ReadOnlySequence<byte> message
    )
    {
        channel = message = default;
        if (buffer.Length < HeadBytes)
        {
            return false;
        }

        Span<byte> head = stackalloc byte[HeadBytes];
        buffer.Slice(0, HeadBytes).CopyTo(head);
        long channelLength = BinaryPrimitives.ReadUInt32LittleEndian(head);
        long messageLength = BinaryPrimitives.ReadUInt32LittleEndian(head[sizeof(uint)..]);
        if (channelLength + messageLength > MaxBytes)
        {
            throw new InvalidDataException("Another member sends a message over the bound.");
        }

        if (buffer.Length < HeadBytes + channelLength + messageLength)
        {
            return false;
        }

        channel = buffer.Slice(HeadBytes, channelLength);
        message = buffer.Slice(HeadBytes + channelLength, messageLength);
        buffer = buffer.Slice(message.End);
        return true;
    }
}
