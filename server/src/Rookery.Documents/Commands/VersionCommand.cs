using System.Buffers.Binary;
using Rookery.Documents.Attachments;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>What an <see cref="OperationKind.Version"/> stores. Numbers are part of the journal's format.</summary>
public enum VersionKind : byte
{
    /// <summary>The document, with the time of its last change.</summary>
    Document = 1,

    /// <summary>
    /// A revision that is older than the document and newer than its other revisions. If the document exists,
    /// <see cref="Restated"/> follows in the same command.
    /// </summary>
    Revision = 2,

    /// <summary>The revision of a deletion, like <see cref="Revision"/>.</summary>
    Deletion = 3,

    /// <summary>
    /// The document as it is, under a new etag that is higher than those of its revisions; nothing if it is missing.
    /// </summary>
    Restated = 4,
}

/// <summary>A version of a document from a dump. Spans point into the command.</summary>
/// <remarks>
/// Encoded as <c>[kind u8][last-modified ticks i64][ordinal u32][attachments: length varint, list][names of counters:
/// length varint, names][values of counters: length varint, 8 bytes each]</c>. An etag in the list of attachments is 0:
/// apply sets it.
/// </remarks>
public readonly ref struct VersionCommand
{
    /// <summary>
    /// Bytes to charge for each of the revisions that <see cref="Ordinal"/> counts: apply reads the heads of their
    /// rows.
    /// </summary>
    public const int BytesPerOrdinal = 256;

    private const int HeadBytes = 1 + sizeof(long) + sizeof(uint);

    /// <summary>What is stored.</summary>
    public VersionKind Kind { get; init; }

    /// <summary>Time of the version in UTC ticks; 0 keeps that of a document that is restated.</summary>
    public long Ticks { get; init; }

    /// <summary>
    /// Revision: number of the document's revisions with the same time that precede it in the dump. One entry of the
    /// log gives all of its changes the same time.
    /// </summary>
    public uint Ordinal { get; init; }

    /// <summary>Revision: its attachments as <see cref="AttachmentList"/>.</summary>
    public ReadOnlySpan<byte> Attachments { get; init; }

    /// <summary>Revision: the names of its counters as <see cref="Stored.CounterNames"/>.</summary>
    public ReadOnlySpan<byte> CounterNames { get; init; }

    /// <summary>Revision: the values of its counters, 8 bytes each.</summary>
    public ReadOnlySpan<byte> CounterValues { get; init; }

    /// <summary>Number of the counters.</summary>
    internal int CounterCount => CounterValues.Length / sizeof(long);

    /// <summary>Decodes what <see cref="Write"/> wrote and <see cref="Measure"/> accepts.</summary>
    internal static VersionCommand Decode(ReadOnlySpan<byte> bytes)
    {
        int at = HeadBytes;
        return new VersionCommand
        {
            Kind = (VersionKind)bytes[0],
            Ticks = BinaryPrimitives.ReadInt64LittleEndian(bytes[1..]),
            Ordinal = BinaryPrimitives.ReadUInt32LittleEndian(bytes[(1 + sizeof(long))..]),
            Attachments = Take(bytes, ref at),
            CounterNames = Take(bytes, ref at),
            CounterValues = Take(bytes, ref at),
        };
    }

    /// <summary>
    /// Returns the length of the encoded command at the start of the bytes; more than there are if they are malformed.
    /// </summary>
    internal static int Measure(ReadOnlySpan<byte> bytes)
    {
        int at = HeadBytes;
        if (bytes.Length < at || (VersionKind)bytes[0] is < VersionKind.Document or > VersionKind.Restated)
        {
            return int.MaxValue;
        }

        for (int part = 0; part < 3; part++)
        {
            if (!Varint.TryReadBytes(bytes, ref at, out _))
            {
                return int.MaxValue;
            }
        }

        return at;
    }

    /// <summary>Appends a command to a buffer.</summary>
    internal static void Write(CommandBuffer buffer, scoped in VersionCommand command)
    {
        var span = buffer.GetSpan(
            HeadBytes
                + (3 * Varint.MaxBytes32)
                + command.Attachments.Length
                + command.CounterNames.Length
                + command.CounterValues.Length
        );
        span[0] = (byte)command.Kind;
        BinaryPrimitives.WriteInt64LittleEndian(span[1..], command.Ticks);
        BinaryPrimitives.WriteUInt32LittleEndian(span[(1 + sizeof(long))..], command.Ordinal);
        int at = HeadBytes;
        at += Varint.WriteBytes(span[at..], command.Attachments);
        at += Varint.WriteBytes(span[at..], command.CounterNames);
        at += Varint.WriteBytes(span[at..], command.CounterValues);
        buffer.Advance(at);
    }

    private static ReadOnlySpan<byte> Take(ReadOnlySpan<byte> bytes, scoped ref int at)
    {
        Invariant.Holds(Varint.TryReadBytes(bytes, ref at, out var taken), "a version was measured before");
        return taken;
    }
}

/// <summary>Attachments and counters of a revision, gathered for a <see cref="VersionCommand"/>.</summary>
public sealed class VersionParts : IDisposable
{
    private readonly PooledBytes _names = new();
    private readonly PooledBytes _values = new();
    private byte[] _attachments = [];

    internal ReadOnlySpan<byte> Attachments => _attachments;

    internal ReadOnlySpan<byte> CounterNames => _names.Written;

    internal ReadOnlySpan<byte> CounterValues => _values.Written;

    /// <summary>Begins the next revision.</summary>
    public void Clear()
    {
        _attachments = [];
        _names.Clear();
        _values.Clear();
    }

    /// <summary>Adds an attachment, or replaces the one with its name.</summary>
    /// <param name="attachment">The attachment, with a valid name; its etag is ignored.</param>
    /// <returns>False, and nothing is added, if the list would be longer than a document may have.</returns>
    public bool TryAdd(scoped in AttachmentEntry attachment)
    {
        byte[] list = new byte[_attachments.Length + AttachmentList.SizeOf(attachment)];
        int length = AttachmentList.Write(_attachments, attachment.Name, attachment, adds: true, list);
        if (length > AttachmentList.MaxBytes)
        {
            return false;
        }

        _attachments = list[..length];
        return true;
    }

    /// <summary>Adds counters.</summary>
    /// <param name="counters">Their names in UTF-8, which <see cref="Ids.CounterName"/> accepts, and their values. Of
    /// names that differ only in casing, the first one counts.</param>
    public void AddCounters(IEnumerable<(byte[] Name, long Value)> counters)
    {
        // A revert gives these counters to the document, which looks up names in this order.
        var ordered = new SortedDictionary<byte[], (byte[] Name, long Value)>(
            Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right))
        );
        foreach (var counter in counters)
        {
            ordered.TryAdd(LowerOf(counter.Name), counter);
        }

        foreach (var (lower, (name, value)) in ordered)
        {
            Stored.CounterNames.Append(_names, name, lower);
            BinaryPrimitives.WriteInt64LittleEndian(_values.Reserve(sizeof(long)), value);
            _values.Advance(sizeof(long));
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _names.Release();
        _values.Release();
    }

    private static byte[] LowerOf(byte[] name)
    {
        Span<byte> lower = stackalloc byte[Ids.CounterName.MaxBytes];
        return lower[..Ids.DocumentId.ToLower(name, lower)].ToArray();
    }
}
