using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// The lines of a script to which the instructions of its program belong, for messages. The table follows the
/// instructions. To versions of the server that do not know it, it is code that is never reached.
/// </summary>
/// <remarks>
/// <c>([bytes of instructions since the last entry varint][line varint])* [u32 length of the entries][u8 255]</c>. A
/// program without a table ends with the instruction <see cref="Opcode.Return"/>.
/// </remarks>
internal static class LineTable
{
    private const byte Mark = byte.MaxValue;
    private const int EndBytes = sizeof(uint) + 1;

    /// <summary>Appends a table.</summary>
    /// <param name="output">Receives the bytes.</param>
    /// <param name="lines">The first instruction of each line, in the order of instructions; those before are in line
    /// 1.</param>
    public static void Append(PooledBytes output, IReadOnlyList<(int Offset, int Line)> lines)
    {
        int start = output.Length;
        int last = 0;
        foreach (var (offset, line) in lines)
        {
            output.Advance(Varint.Write(output.Reserve(Varint.MaxBytes32), (uint)(offset - last)));
            output.Advance(Varint.Write(output.Reserve(Varint.MaxBytes32), (uint)line));
            last = offset;
        }

        int length = output.Length - start;
        BinaryPrimitives.WriteUInt32LittleEndian(output.Reserve(sizeof(uint)), (uint)length);
        output.Advance(sizeof(uint));
        output.Append(Mark);
    }

    /// <summary>Returns the line of an instruction, from 1; 0 if the program has no table.</summary>
    /// <param name="program">The encoded program.</param>
    /// <param name="instruction">The offset of the instruction from the first one.</param>
    public static int Find(ReadOnlySpan<byte> program, int instruction)
    {
        if (program.Length < EndBytes || program[^1] != Mark)
        {
            return 0;
        }

        uint length = BinaryPrimitives.ReadUInt32LittleEndian(program[^EndBytes..]);
        if (length > program.Length - EndBytes)
        {
            return 0;
        }

        var entries = program[..^EndBytes][^(int)length..];
        int line = 1;
        int start = 0;
        for (int at = 0; at < entries.Length; )
        {
            if (!Varint.TryRead(entries, ref at, out int distance) || !Varint.TryRead(entries, ref at, out int next))
            {
                return 0;
            }

            start += distance;
            if (start > instruction)
            {
                return line;
            }

            line = next;
        }

        return line;
    }
}
