using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>Whether a <c>@metadata</c> object belongs to a document or to a merge patch.</summary>
internal enum MetadataUse
{
    /// <summary>A document: members that the server computes are dropped.</summary>
    Document,

    /// <summary>A merge patch: null removes a member.</summary>
    MergePatch,
}

/// <summary>How a merge patch changes a value that is stored outside of the metadata members.</summary>
internal enum MemberChange : byte
{
    /// <summary>The patch does not name it.</summary>
    Unchanged = 0,

    /// <summary>The patch sets it to null.</summary>
    Removed = 1,

    /// <summary>The patch gives it a value.</summary>
    Set = 2,
}

/// <summary>
/// Reads a <c>@metadata</c> object: keeps the user's members, extracts collection and expiry, and drops members that
/// the server computes.
/// </summary>
/// <remarks>
/// Apply uses this reader for the metadata that a patch script changed, so all members must read it alike. A change of
/// the rules for <see cref="MetadataUse.Document"/> needs a new format level.
/// </remarks>
internal sealed class MetadataReader
{
    // Values in the metadata are inside two objects: the document and @metadata.
    private const int MaxValueDepth = JsonLimits.MaxDepth - 2;

    private readonly PooledBytes _kept = new();
    private readonly PooledBytes _collection = new();
    private readonly PooledBytes _id = new();

    // Offsets of the last span of adjacent kept members; both 0 before the first kept member.
    private int _spanStart;
    private int _spanEnd;
    private bool _isCopied; // whether the kept members are in _kept; otherwise they are that span of the input

    /// <summary>Name of the metadata member.</summary>
    public static ReadOnlySpan<byte> MemberName => "@metadata"u8;

    /// <summary>The error, if a member has a wrong type or value; the scanner then reports none.</summary>
    public InputError Error { get; private set; }

    /// <summary>The collection's name; empty if there is none.</summary>
    public ReadOnlySpan<byte> Collection => _collection.Written;

    /// <summary>Whether the collection is missing, null or a name.</summary>
    public MemberChange CollectionChange { get; private set; }

    /// <summary>The id in the metadata; empty if there is none.</summary>
    public ReadOnlySpan<byte> Id => _id.Written;

    /// <summary>Whether the id is neither a string nor null.</summary>
    public bool HasInvalidId { get; private set; }

    /// <summary>Whether there is a list <c>@counters</c>.</summary>
    public bool NamesCounters { get; private set; }

    /// <summary>Whether there is a list <c>@attachments</c>.</summary>
    public bool NamesAttachments { get; private set; }

    /// <summary>Time at which the document expires, in UTC ticks; 0 if never.</summary>
    public long ExpiresAtTicks { get; private set; }

    /// <summary>Whether the expiry is missing, null or a date.</summary>
    public MemberChange ExpiryChange { get; private set; }

    /// <summary>Returns the kept members, without braces.</summary>
    public ReadOnlySpan<byte> Members(ReadOnlySpan<byte> json) =>
        _isCopied ? _kept.Written : json[_spanStart.._spanEnd];

    /// <summary>Resets the reader.</summary>
    public void Clear()
    {
        _kept.Clear();
        _collection.Clear();
        _id.Clear();
        (_spanStart, _spanEnd, _isCopied) = (0, 0, false);
        (CollectionChange, ExpiryChange, ExpiresAtTicks) = (MemberChange.Unchanged, MemberChange.Unchanged, 0);
        HasInvalidId = false;
        NamesCounters = false;
        NamesAttachments = false;
        Error = default;
    }

    /// <summary>Reads the object at the scanner's next token.</summary>
    public bool TryRead(ref JsonScanner scanner, MetadataUse use)
    {
        if (scanner.Peek() is not ((byte)'{' or 0))
        {
            return Refuse(
                InputErrorCode.WrongType,
                scanner,
                scanner.Position,
                "@metadata must be an object",
                "Send \"@metadata\":{…}, or leave it out"
            );
        }

        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        bool gap = false; // a member was dropped since the last kept member
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            if (!TryReadMember(ref scanner, name, use, out bool keep))
            {
                return false;
            }

            if (keep)
            {
                KeepMember(scanner.Json, name.Start - 1, scanner.Position, gap);
            }

            gap = !keep;
        }

        if (_isCopied)
        {
            _kept.Append(scanner.Json[_spanStart.._spanEnd]);
        }

        return scanner.Error == InputErrorCode.None;
    }

    /// <summary>
    /// Keeps a member. As long as no member is dropped between kept ones, they are one span of the input. Otherwise
    /// they are copied.
    /// </summary>
    private void KeepMember(ReadOnlySpan<byte> json, int from, int to, bool gap)
    {
        if (_spanEnd == 0)
        {
            _spanStart = from;
        }
        else if (gap)
        {
            _kept.Append(json[_spanStart.._spanEnd]);
            _kept.Append((byte)',');
            _spanStart = from;
            _isCopied = true;
        }

        _spanEnd = to;
    }

    private bool TryReadMember(ref JsonScanner scanner, JsonSlice name, MetadataUse use, out bool keep)
    {
        keep = true;
        ReadOnlySpan<byte> text = scanner.Text(name);
        if (text.IsEmpty || text[0] != (byte)'@')
        {
            return scanner.TrySkipValue(MaxValueDepth);
        }

        if (text.SequenceEqual("@collection"u8))
        {
            keep = false;
            return TryReadCollection(ref scanner);
        }

        if (text.SequenceEqual("@expires"u8))
        {
            return TryReadExpiry(ref scanner, use, out keep);
        }

        if (text.SequenceEqual("@id"u8) && scanner.Peek() is not ((byte)'"' or (byte)'n'))
        {
            HasInvalidId = true;
        }
        else if (text.SequenceEqual("@id"u8) && scanner.Peek() == (byte)'"')
        {
            keep = false;
            if (!scanner.TryReadString(out JsonSlice slice))
            {
                return false;
            }

            _id.Append(scanner.Text(slice));
            return true;
        }

        NamesCounters |= text.SequenceEqual("@counters"u8) && scanner.Peek() == (byte)'[';
        NamesAttachments |= text.SequenceEqual("@attachments"u8) && scanner.Peek() == (byte)'[';
        keep = !IsComputed(text);
        return scanner.TrySkipValue(MaxValueDepth);
    }

    private bool TryReadCollection(ref JsonScanner scanner)
    {
        byte next = scanner.Peek();
        int at = scanner.Position;
        if (next == (byte)'n')
        {
            CollectionChange = MemberChange.Removed;
            return scanner.TryTakeLiteral("null"u8);
        }

        if (next is not ((byte)'"' or 0))
        {
            return Refuse(
                InputErrorCode.WrongType,
                scanner,
                at,
                "@collection must be a string",
                "Send the collection's name, or leave @collection out"
            );
        }

        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        ReadOnlySpan<byte> name = scanner.Text(slice);
        if (
            name.Length > DocumentLimits.MaxCollectionBytes
            || name.ContainsAnyInRange((byte)0, (byte)0x1F)
            || name.Contains((byte)0x7F)
        )
        {
            return Refuse(
                InputErrorCode.InvalidCollection,
                scanner,
                at,
                $"A collection's name takes at most {DocumentLimits.MaxCollectionBytes} bytes and no control "
                    + $"characters",
                "Choose a shorter, printable name"
            );
        }

        bool isNone = name.IsEmpty || name.SequenceEqual("@empty"u8);
        CollectionChange = isNone ? MemberChange.Removed : MemberChange.Set;
        _collection.Append(isNone ? default : name);
        return true;
    }

    private bool TryReadExpiry(ref JsonScanner scanner, MetadataUse use, out bool keep)
    {
        keep = true;
        byte next = scanner.Peek();
        int at = scanner.Position;
        if (next == (byte)'n')
        {
            keep = use == MetadataUse.MergePatch;
            ExpiryChange = MemberChange.Removed;
            return scanner.TryTakeLiteral("null"u8);
        }

        if (next is not ((byte)'"' or 0))
        {
            return Refuse(
                InputErrorCode.WrongType,
                scanner,
                at,
                "@expires must be a date in a string",
                "Send \"@expires\":\"2026-11-21T09:49:45.0000000Z\""
            );
        }

        if (!scanner.TryReadString(out JsonSlice date))
        {
            return false;
        }

        ExpiryChange = MemberChange.Set;
        // 0 ticks would mean that the document does not expire.
        if (WireDate.TryParse(scanner.Text(date), out long ticks) && ticks > 0)
        {
            ExpiresAtTicks = ticks;
            return true;
        }

        return Refuse(
            InputErrorCode.InvalidDate,
            scanner,
            at,
            "@expires is not a date",
            "Write it as 2026-11-21T09:49:45.0000000Z; without Z it is taken as UTC"
        );
    }

    /// <summary>Returns whether the server computes this metadata member itself.</summary>
    private static bool IsComputed(ReadOnlySpan<byte> name) =>
        name.SequenceEqual("@id"u8)
        || name.SequenceEqual("@change-vector"u8)
        || name.SequenceEqual("@last-modified"u8)
        || name.SequenceEqual("@flags"u8)
        || name.SequenceEqual("@index-score"u8)
        || name.SequenceEqual("@projection"u8)
        || name.SequenceEqual("@attachments"u8)
        || name.SequenceEqual("@counters"u8)
        || name.SequenceEqual("@counters-snapshot"u8)
        || name.SequenceEqual("@timeseries"u8)
        || name.SequenceEqual("@spatial"u8);

    private bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string problem, string advice)
    {
        Error = InputErrors.InJson(code, scanner.Json, at, problem, advice);
        return false;
    }
}
