using System.Buffers.Text;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Apply;

/// <summary>
/// Assigns ranges of numbers to clients that build ids themselves (RavenDB's HiLo). The state is an ordinary document
/// <c>Raven/Hilo/TAG</c> <c>{"Max":n}</c>, which users may read and write. As in RavenDB's HiLoHandler, ranges grow for
/// clients that return soon and shrink for clients that return late.
/// </summary>
internal sealed class HiloOperations(DocumentOperations documents)
{
    private const long SmallestRange = 32;
    private const long MaxRange = 1024 * 1024;
    private const long SoonTicks = 30 * TimeSpan.TicksPerSecond;
    private const long LateTicks = 60 * TimeSpan.TicksPerSecond;

    private readonly byte[] _id = new byte[2 * DocumentId.MaxBytes];
    private readonly byte[] _lower = new byte[2 * DocumentId.MaxBytes];
    private readonly byte[] _body = new byte[32];
    private readonly byte[] _content = new byte[128];

    private static ReadOnlySpan<byte> Collection => "@hilo"u8;
    private static ReadOnlySpan<byte> MaxMember => "\"Max\":"u8;

    /// <summary>Assigns the next range.</summary>
    /// <returns>The reason for a refusal, or null. Ranges beyond 2^53 are refused, because JavaScript clients cannot
    /// tell such numbers apart, and two documents would get the same id.</returns>
    public Rejection? Next(ApplyContext context, in HiloNextCommand command, out OperationResult result)
    {
        var id = IdOf(command.Tag, command.LowerTag, out var lower);
        using var previous = context.FindDocument(lower);
        long max = Math.Max(previous.Exists ? MaxOf(previous.View) : 0, command.LastMax);
        long size = RangeSize(command.LastBatchSize, context.LogTicks - command.LastRangeAtTicks);
        if (max > HiloDocument.MaxNumber - size)
        {
            string name = Encoding.UTF8.GetString(id);
            result = default;
            return new Rejection(
                RejectionKind.Invalid,
                $"No range of {size} numbers is left after {max}: ids end at {HiloDocument.MaxNumber}. Correct "
                    + $"'lastMax', or the Max of document {name}."
            )
            {
                DocumentId = name,
                Database = context.Database.Database.Name,
            };
        }

        result = Store(context, id, lower, previous, max + size, command.KeepsMetadata) with
        {
            Status = OperationStatus.Numbered,
            Low = max + 1,
            High = max + size,
        };
        return null;
    }

    /// <summary>Frees the unused end of a range, if no later range was assigned.</summary>
    public OperationResult Return(ApplyContext context, in HiloReturnCommand command)
    {
        var id = IdOf(command.Tag, command.LowerTag, out var lower);
        using var previous = context.FindDocument(lower);
        return previous.Exists && MaxOf(previous.View) == command.End && command.Last <= command.End
            ? Store(context, id, lower, previous, command.Last, command.KeepsMetadata) with
            {
                Status = OperationStatus.Numbered,
                High = command.Last,
            }
            : default;
    }

    /// <summary>Writes the lower-cased id of a tag's HiLo document.</summary>
    /// <param name="tag">The tag as the client wrote it.</param>
    /// <param name="lowerTag">The lower-cased tag; empty if the tag is ASCII.</param>
    /// <param name="destination">Receives the id.</param>
    /// <returns>Bytes written.</returns>
    internal static int WriteLowerId(ReadOnlySpan<byte> tag, ReadOnlySpan<byte> lowerTag, Span<byte> destination)
    {
        Ascii.ToLower(HiloDocument.IdPrefix, destination, out int length);
        if (lowerTag.IsEmpty)
        {
            Ascii.ToLower(tag, destination[length..], out int tagLength);
            return length + tagLength;
        }

        lowerTag.CopyTo(destination[length..]);
        return length + lowerTag.Length;
    }

    /// <summary>
    /// Returns the size of a client's next range, given the size of its last one (0 for none) and the time since then.
    /// </summary>
    internal static long RangeSize(long lastSize, long sinceLastTicks)
    {
        if (lastSize <= 0)
        {
            return SmallestRange;
        }

        long size =
            sinceLastTicks < SoonTicks ? Math.Min(lastSize, MaxRange) * 2
            : sinceLastTicks > LateTicks ? lastSize / 2
            : lastSize;
        return Math.Clamp(size, SmallestRange, MaxRange);
    }

    private ReadOnlySpan<byte> IdOf(ReadOnlySpan<byte> tag, ReadOnlySpan<byte> lowerTag, out ReadOnlySpan<byte> lower)
    {
        HiloDocument.IdPrefix.CopyTo(_id);
        tag.CopyTo(_id.AsSpan(HiloDocument.IdPrefix.Length));
        int lowerLength = WriteLowerId(tag, lowerTag, _lower);
        lower = _lower.AsSpan(0, lowerLength);
        return _id.AsSpan(0, HiloDocument.IdPrefix.Length + tag.Length);
    }

    private OperationResult Store(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lower,
        in Document previous,
        long max,
        bool keepsMetadata
    )
    {
        MaxMember.CopyTo(_body);
        Utf8Formatter.TryFormat(max, _body.AsSpan(MaxMember.Length), out int digits);
        var kept = keepsMetadata && previous.Exists ? previous.View : default;
        var document = new ParsedDocument
        {
            Collection = Collection,
            BodyHead = _body.AsSpan(0, MaxMember.Length + digits),
            Metadata = kept.Metadata,
        };
        int bytes = StoredDocument.ContentBytes(document);
        // Clients store these documents without metadata of their own, or with the name of a class.
        byte[] content = bytes <= _content.Length ? _content : new byte[bytes];
        StoredDocument.WriteContent(content, document);
        return documents.PutContent(
            context,
            id,
            lower,
            previous,
            content.AsSpan(0, bytes),
            Collection,
            kept.ExpiresAtTicks
        );
    }

    private static long MaxOf(in DocumentView document) => HiloDocument.MaxOf([(byte)'{', .. document.Body, (byte)'}']);
}
