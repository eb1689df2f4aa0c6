using System.Buffers;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Revisions;
using Rookery.Json;

namespace Rookery.Documents.Stored;

/// <summary>Writes stored documents as JSON for clients, by copying spans.</summary>
public static class DocumentWriter
{
    /// <summary>Documents up to this length are written into one span of the output, which saves calls.</summary>
    private const int OneSpanBytes = 4096;

    /// <summary>Room for the names, punctuation, change vector and date in the metadata.</summary>
    private const int ComputedBytes = 192;

    /// <summary>Room for the flags in the metadata.</summary>
    private const int FlagsBytes = 128;

    /// <summary>Writes <c>{body,"@metadata":{…}}</c>.</summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="document">The stored document.</param>
    /// <param name="etag">The row's sequence.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public static void Write(
        IBufferWriter<byte> output,
        in DocumentView document,
        long etag,
        ReadOnlySpan<byte> historyId
    )
    {
        ReadOnlySpan<byte> body = document.Body;
        int maxBytes = "{".Length + body.Length + MaxTailBytes(document);
        if (maxBytes > OneSpanBytes)
        {
            output.GetSpan(maxBytes); // one reservation: a buffer that grows by doubling needs three times the memory
            output.Write("{"u8);
            output.Write(body);
            WriteTail(output, document, !body.IsEmpty, etag, historyId);
            return;
        }

        Span<byte> span = output.GetSpan(maxBytes);
        span[0] = (byte)'{';
        body.CopyTo(span[1..]);
        int written = 1 + body.Length;
        output.Advance(written + FillTail(span[written..], document, !body.IsEmpty, etag, historyId));
    }

    /// <summary>Writes a document that is stored in chunks, in the same form.</summary>
    internal static void Write(
        IBufferWriter<byte> output,
        long length,
        LargeDocument document,
        long etag,
        ReadOnlySpan<byte> historyId
    )
    {
        var head = new DocumentView(document.Head);
        // One reservation: a buffer that grows by doubling needs three times the memory.
        output.GetSpan("{".Length + checked((int)length) + MaxTailBytes(head));
        output.Write("{"u8);
        document.WriteBody(output);
        WriteTail(output, head, hasBody: length > document.Head.Length, etag, historyId);
    }

    /// <summary>Writes <c>{"@metadata":{…}}</c>.</summary>
    /// <inheritdoc cref="Write(IBufferWriter{byte}, in DocumentView, long, ReadOnlySpan{byte})"/>
    public static void WriteMetadataOnly(
        IBufferWriter<byte> output,
        in DocumentView document,
        long etag,
        ReadOnlySpan<byte> historyId
    )
    {
        output.Write("{"u8);
        WriteTail(output, document, hasBody: false, etag, historyId);
    }

    /// <summary>
    /// Writes the part after the body: <c>,"@metadata":{…}}</c>. The caller has written the opening brace and the body.
    /// </summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="document">The stored document; its body is not read.</param>
    /// <param name="hasBody">Whether the body has members.</param>
    /// <param name="etag">The row's sequence.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public static void WriteTail(
        IBufferWriter<byte> output,
        in DocumentView document,
        bool hasBody,
        long etag,
        ReadOnlySpan<byte> historyId
    )
    {
        Span<byte> span = output.GetSpan(MaxTailBytes(document));
        output.Advance(FillTail(span, document, hasBody, etag, historyId));
    }

    /// <summary>
    /// Returns the members of the metadata that are computed from the stored lists of attachments, counters and
    /// revisions: <c>@attachments</c>, <c>@counters</c> and <c>@flags</c>, without those that the document lacks.
    /// </summary>
    internal static ReadOnlySpan<byte> ComputedMembers(scoped in DocumentView document)
    {
        if (!HasParts(document))
        {
            return default;
        }

        byte[] members = new byte[MaxPartsBytes(document)];
        int length = FillParts(members, written: 0, document);
        return members.AsSpan(0, length - ",".Length);
    }

    private static int FillTail(
        Span<byte> span,
        in DocumentView document,
        bool hasBody,
        long etag,
        ReadOnlySpan<byte> historyId
    )
    {
        int written = Fill(span, written: 0, hasBody ? ",\"@metadata\":{"u8 : "\"@metadata\":{"u8);
        if (!document.Metadata.IsEmpty)
        {
            written = Fill(span, written, document.Metadata);
            span[written++] = (byte)',';
        }

        if (HasParts(document))
        {
            written = FillParts(span, written, document);
        }

        // As in RavenDB, a document without a collection has no @collection.
        if (!document.Collection.IsEmpty)
        {
            written = Fill(span, written, "\"@collection\":"u8);
            written = FillString(span, written, document.Collection);
            span[written++] = (byte)',';
        }

        written = Fill(span, written, "\"@id\":"u8);
        written = FillString(span, written, document.Id);
        written = Fill(span, written, ",\"@change-vector\":\""u8);
        written += ChangeVector.Write(span[written..], etag, historyId);
        written = Fill(span, written, "\",\"@last-modified\":\""u8);
        WireDate.Write(span[written..], document.LastModifiedTicks);
        return Fill(span, written + WireDate.Length, "\"}}"u8);
    }

    private static bool HasParts(scoped in DocumentView document) =>
        !document.CounterNames.IsEmpty || !document.Attachments.IsEmpty || !document.Revisions.IsEmpty;

    private static int FillParts(Span<byte> span, int written, scoped in DocumentView document)
    {
        var revisionState = document.Revisions;
        var flags = revisionState.IsEmpty ? RevisionFlags.None : (RevisionFlags)revisionState[0];
        bool isRevision = (flags & RevisionFlags.IsShown) != RevisionFlags.None;
        if (!document.Attachments.IsEmpty)
        {
            written += AttachmentList.WriteJson(span[written..], document.Attachments);
        }

        if (isRevision)
        {
            written += RevisionCounters.WriteJson(span[written..], document.CounterNames, revisionState[1..]);
        }
        else if (!document.CounterNames.IsEmpty)
        {
            written = FillCounters(span, written, document.CounterNames);
        }

        written = Fill(span, written, "\"@flags\":\""u8);
        int start = written;
        written = FillFlag(span, written, start, "HasAttachments"u8, !document.Attachments.IsEmpty);
        written = FillFlag(span, written, start, "HasCounters"u8, !document.CounterNames.IsEmpty);
        written = FillFlag(span, written, start, "HasRevisions"u8, !revisionState.IsEmpty);
        written = FillFlag(span, written, start, "DeleteRevision"u8, Has(RevisionFlags.IsDelete));
        written = FillFlag(span, written, start, "Revision"u8, isRevision && !Has(RevisionFlags.IsDelete));
        written = FillFlag(span, written, start, "ForceCreated"u8, isRevision && Has(RevisionFlags.IsForced));
        return Fill(span, written, "\","u8);

        bool Has(RevisionFlags flag) => (flags & flag) != RevisionFlags.None;
    }

    private static int FillFlag(Span<byte> span, int written, int start, ReadOnlySpan<byte> flag, bool isSet)
    {
        if (!isSet)
        {
            return written;
        }

        written = written == start ? written : Fill(span, written, ", "u8);
        return Fill(span, written, flag);
    }

    // Clients find the names in @counters, and ask for no counters of a document without the member.
    private static int FillCounters(Span<byte> span, int written, ReadOnlySpan<byte> counterNames)
    {
        written = Fill(span, written, "\"@counters\":["u8);
        var names = new CounterNames(counterNames);
        for (bool isFirst = true; names.MoveNext(); isFirst = false)
        {
            if (!isFirst)
            {
                span[written++] = (byte)',';
            }

            written = FillString(span, written, names.Name);
        }

        return Fill(span, written, "],"u8);
    }

    private static int MaxTailBytes(in DocumentView document) =>
        ComputedBytes
        + document.Metadata.Length
        + JsonText.EscapedBytes(document.Collection)
        + JsonText.EscapedBytes(document.Id)
        + (HasParts(document) ? MaxPartsBytes(document) : 0);

    private static int MaxPartsBytes(scoped in DocumentView document) =>
        FlagsBytes + MaxCountersBytes(document.CounterNames) + AttachmentList.MaxJsonBytes(document.Attachments);

    private static int MaxCountersBytes(ReadOnlySpan<byte> counterNames)
    {
        const int MemberBytes = 64;
        const int PunctuationBytes = 3 + 21; // quotes and comma; in a revision, also a colon and the counter's value
        int bytes = MemberBytes;
        var names = new CounterNames(counterNames);
        while (names.MoveNext())
        {
            bytes += JsonText.EscapedBytes(names.Name) + PunctuationBytes;
        }

        return bytes;
    }

    private static int Fill(Span<byte> span, int written, ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(span[written..]);
        return written + bytes.Length;
    }

    private static int FillString(Span<byte> span, int written, ReadOnlySpan<byte> text)
    {
        span[written++] = (byte)'"';
        written += JsonText.Escape(text, span[written..]);
        span[written++] = (byte)'"';
        return written;
    }
}
