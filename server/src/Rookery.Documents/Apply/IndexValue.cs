using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Indexes;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// The stored form of an index: <c>[u8 format][u8 lock][u8 priority][u8 disabled][i64 number][i64 replaced number or
/// 0][name][definition][replaced definition]</c>. A varint length precedes each text. The replaced definition is the
/// one whose index answers queries until the new index has caught up.
/// </summary>
internal readonly ref struct IndexValue
{
    private const byte Format = 1;
    private const int ReplacedOffset = NumberOffset + sizeof(long);
    private const int NumberOffset = 4;
    private const int HeadBytes = ReplacedOffset + sizeof(long);

    public IndexSettings Settings { get; init; }

    public long Number { get; init; }

    public ReadOnlySpan<byte> Name { get; init; }

    public ReadOnlySpan<byte> Definition { get; init; }

    /// <summary>Number of the definition that this one replaces; 0 if there is none.</summary>
    public long ReplacedNumber { get; init; }

    public ReadOnlySpan<byte> ReplacedDefinition { get; init; }

    public void Write(IBufferWriter<byte> writer)
    {
        var span = writer.GetSpan(
            HeadBytes + (3 * Varint.MaxBytes32) + Name.Length + Definition.Length + ReplacedDefinition.Length
        );
        span[0] = Format;
        span[1] = (byte)Settings.LockMode;
        span[2] = (byte)Settings.Priority;
        span[3] = Settings.IsDisabled ? (byte)1 : (byte)0;
        BinaryPrimitives.WriteInt64LittleEndian(span[NumberOffset..], Number);
        BinaryPrimitives.WriteInt64LittleEndian(span[ReplacedOffset..], ReplacedNumber);
        int at = HeadBytes + Varint.WriteBytes(span[HeadBytes..], Name);
        at += Varint.WriteBytes(span[at..], Definition);
        writer.Advance(at + Varint.WriteBytes(span[at..], ReplacedDefinition));
    }

    public static IndexValue Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length > HeadBytes && value[0] == Format, "index");
        int at = HeadBytes;
        bool isWhole = Varint.TryReadBytes(value, ref at, out var name);
        isWhole &= Varint.TryReadBytes(value, ref at, out var definition);
        isWhole &= Varint.TryReadBytes(value, ref at, out var replaced);
        FormatGuard.Expect(isWhole, "index");
        return new IndexValue
        {
            Settings = new IndexSettings((IndexLockMode)value[1], (IndexPriority)value[2], value[3] != 0),
            Number = BinaryPrimitives.ReadInt64LittleEndian(value[NumberOffset..]),
            Name = name,
            Definition = definition,
            ReplacedNumber = BinaryPrimitives.ReadInt64LittleEndian(value[ReplacedOffset..]),
            ReplacedDefinition = replaced,
        };
    }

    public IndexRecord ToRecord(long version) =>
        new()
        {
            Name = Encoding.UTF8.GetString(Name),
            Number = Number,
            Definition = Definition.ToArray(),
            Settings = Settings,
            Replaced = ReplacedNumber == 0 ? null : new ReplacedIndex(ReplacedNumber, ReplacedDefinition.ToArray()),
            Version = version,
        };
}
