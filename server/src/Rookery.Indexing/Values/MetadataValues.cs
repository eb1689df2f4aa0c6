using System.Buffers;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;

namespace Rookery.Indexing.Values;

/// <summary>
/// Reads values below <c>@metadata</c>: the user's own members, and computed ones such as <c>@id</c>, which are not
/// stored as members.
/// </summary>
internal static class MetadataValues
{
    // An escape in JSON takes up to six bytes for one byte. Two quotes surround the text.
    private const int MaxTextBytes = (DocumentLimits.MaxCollectionBytes * 6) + 2;

    /// <summary>Passes the values at a path of the metadata to a visitor.</summary>
    public static bool Read<TVisitor>(in QueriedDocument document, FieldReader reader, scoped ref TVisitor visitor)
        where TVisitor : struct, IValueVisitor, allows ref struct
    {
        ReadOnlySpan<byte[]> steps = reader.Steps;
        if (steps.IsEmpty || IsOfParts(document, steps[0]))
        {
            return ReadWhole(document, reader, ref visitor);
        }

        Span<byte> buffer = stackalloc byte[MaxTextBytes];
        int length = WriteComputed(document, steps[0], buffer);
        return length == 0
            ? reader.ReadMember(document.View.Metadata, FieldReader.BeforeMembers, step: 0, ref visitor)
            : reader.ReadFrom(buffer[..length], at: 0, step: 1, ref visitor);
    }

    /// <summary>
    /// Returns whether the document has counters or attachments, and the name is that of a member that lists them.
    /// </summary>
    public static bool IsOfParts(in QueriedDocument document, ReadOnlySpan<byte> name)
    {
        bool isFlags = name.SequenceEqual("@flags"u8);
        return ((isFlags || name.SequenceEqual("@counters"u8)) && !document.View.CounterNames.IsEmpty)
            || ((isFlags || name.SequenceEqual("@attachments"u8)) && !document.View.Attachments.IsEmpty);
    }

    /// <summary>Writes a computed member as JSON and returns its length; 0 for any other name.</summary>
    private static int WriteComputed(in QueriedDocument document, ReadOnlySpan<byte> name, Span<byte> buffer)
    {
        if (name.SequenceEqual("@id"u8))
        {
            return WriteString(document.View.Id, buffer);
        }

        if (name.SequenceEqual("@collection"u8))
        {
            return WriteString(document.View.Collection.IsEmpty ? "@empty"u8 : document.View.Collection, buffer);
        }

        if (name.SequenceEqual("@last-modified"u8))
        {
            WireDate.Write(buffer[1..], document.View.LastModifiedTicks);
            buffer[0] = buffer[1 + WireDate.Length] = (byte)'"';
            return WireDate.Length + 2;
        }

        if (name.SequenceEqual("@change-vector"u8))
        {
            int length = ChangeVector.Write(buffer[1..], document.Etag, document.HistoryId);
            buffer[0] = buffer[1 + length] = (byte)'"';
            return length + 2;
        }

        return 0;
    }

    private static int WriteString(ReadOnlySpan<byte> text, Span<byte> buffer)
    {
        int length = JsonText.Escape(text, buffer[1..]);
        buffer[0] = buffer[1 + length] = (byte)'"';
        return length + 2;
    }

    private static bool ReadWhole<TVisitor>(
        in QueriedDocument document,
        FieldReader reader,
        scoped ref TVisitor visitor
    )
        where TVisitor : struct, IValueVisitor, allows ref struct
    {
        var output = new ArrayBufferWriter<byte>();
        DocumentWriter.WriteMetadataOnly(output, document.View, document.Etag, document.HistoryId);
        return reader.ReadFrom(output.WrittenSpan["{\"@metadata\":".Length..^1], at: 0, step: 0, ref visitor);
    }
}
