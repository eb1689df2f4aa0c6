using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Computes CRC-32C (Castagnoli, RFC 3720 appendix B.4), with the processor's instruction on x64 and arm64.
/// </summary>
public static class Checksum
{
    /// <summary>Returns the CRC-32C of <paramref name="data"/>; 0xE3069283 for the ASCII digits 1 to 9.</summary>
    public static uint Of(ReadOnlySpan<byte> data) => Finish(Append(Start, data));

    /// <summary>The initial state for <see cref="Append"/>.</summary>
    public const uint Start = uint.MaxValue;

    /// <summary>Returns the state after <paramref name="data"/>, given the state before.</summary>
    public static uint Append(uint state, ReadOnlySpan<byte> data)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(data);
        foreach (ulong word in words)
        {
            state = BitOperations.Crc32C(
                state,
                BitConverter.IsLittleEndian ? word : BinaryPrimitives.ReverseEndianness(word)
            );
        }

        foreach (byte value in data[(words.Length * sizeof(ulong))..])
        {
            state = BitOperations.Crc32C(state, value);
        }

        return state;
    }

    /// <summary>Returns the checksum of a state.</summary>
    public static uint Finish(uint state) => ~state;
}
