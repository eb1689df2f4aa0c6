using System.Text.Unicode;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>
/// Validates documents and splits them into body and metadata, in one pass. Not thread-safe: rent a parser, use it,
/// dispose it.
/// </summary>
/// <remarks>
/// White space between tokens is not stored, because it would cost space on disk, in the cache and in every response.
/// Most clients send none. The parser copies the document only if it found some. Otherwise the stored members are spans
/// of the input.
/// </remarks>
public sealed class DocumentParser : IDisposable
{
    [ThreadStatic]
    private static DocumentParser? _idle;

    private readonly ObjectKeys _keys = new();
    private readonly MetadataReader _metadata = new();
    private readonly PooledBytes _minified = new();

    private DocumentParser() { }

    /// <summary>
    /// Holds the keys of the objects that are still open in the scanner (<see cref="JsonScanner"/>), to find duplicate
    /// keys. Pass it to the scanners whose documents this parser reads.
    /// </summary>
    internal ObjectKeys Keys => _keys;

    /// <summary>Returns an idle parser or a new one.</summary>
    public static DocumentParser Rent()
    {
        DocumentParser parser = _idle ?? new DocumentParser();
        _idle = null;
        return parser;
    }

    /// <summary>Parses <paramref name="json"/>, which must be exactly one document.</summary>
    /// <returns>False if the document is refused: then <paramref name="error"/> is the reason, and
    /// <paramref name="document"/> must not be used.</returns>
    public bool TryParse(ReadOnlySpan<byte> json, out ParsedDocument document, out InputError error)
    {
        document = default;
        if (json.Length > DocumentLimits.MaxDocumentBytes)
        {
            error = InputErrors.InJson(InputErrorCode.DocumentTooLarge, json, DocumentLimits.MaxDocumentBytes);
            return false;
        }

        if (!Utf8.IsValid(json))
        {
            error = InputErrors.InJson(InputErrorCode.InvalidUtf8, json, InputErrors.FirstInvalidUtf8(json));
            return false;
        }

        _keys.Reset();
        var scanner = new JsonScanner(json, 0, _keys);
        if (!TryRead(ref scanner, MetadataUse.Document, out document) || !scanner.TryEnd())
        {
            error = Explain(scanner);
            return false;
        }

        error = default;
        return true;
    }

    /// <summary>Makes the parser available to the next <see cref="Rent"/> on this thread.</summary>
    public void Dispose()
    {
        _keys.Reset();
        _metadata.Clear();
        _minified.Clear();
        _idle ??= this;
    }

    /// <summary>
    /// Reads a document or merge patch at the scanner's next token. The caller checks that the text is UTF-8.
    /// </summary>
    /// <returns>False if the text is refused; <see cref="Explain"/> returns the reason.</returns>
    internal bool TryRead(scoped ref JsonScanner scanner, MetadataUse use, out ParsedDocument document)
    {
        document = default;
        _metadata.Clear();
        // The end of the input is no error yet: the rest of a streamed document may follow. TryReadMembers reports it.
        const byte EndOfInput = 0;
        if (scanner.Peek() is not ((byte)'{' or EndOfInput))
        {
            return scanner.Fail(InputErrorCode.NotAnObject, scanner.Position);
        }

        int start = scanner.Position;
        int whitespaceBefore = scanner.WhitespaceBytes;
        if (!TryReadMembers(ref scanner, use, out Range head, out Range tail))
        {
            return false;
        }

        if (scanner.Position - start > DocumentLimits.MaxDocumentBytes)
        {
            return scanner.Fail(InputErrorCode.DocumentTooLarge, start);
        }

        document =
            scanner.WhitespaceBytes == whitespaceBefore
                ? Assemble(scanner.Json[head], scanner.Json[tail], _metadata.Members(scanner.Json))
                : Minify(scanner.Json[head], scanner.Json[tail], _metadata.Members(scanner.Json));
        return true;
    }

    /// <summary>
    /// Returns why the scanner stopped. Separate from <see cref="TryRead"/>, so that no message is built for a stream
    /// that only needs more bytes.
    /// </summary>
    internal InputError Explain(JsonScanner scanner) =>
        _metadata.Error.IsError ? _metadata.Error : InputErrors.InJson(scanner.Error, scanner.Json, scanner.Position);

    /// <summary>
    /// Reads all members. <paramref name="head"/> are the members before <c>@metadata</c>, <paramref name="tail"/>
    /// those after it.
    /// </summary>
    private bool TryReadMembers(scoped ref JsonScanner scanner, MetadataUse use, out Range head, out Range tail)
    {
        const int NoMember = -1;
        head = tail = default;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true,
            afterMetadata = false;
        int start = NoMember,
            end = NoMember;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            // Escapes only lengthen a name, so a shorter name than `@metadata` is another member.
            bool mayBeMetadata = name.Length >= MetadataReader.MemberName.Length;
            if (mayBeMetadata && scanner.Text(name).SequenceEqual(MetadataReader.MemberName))
            {
                if (!_metadata.TryRead(ref scanner, use))
                {
                    return false;
                }

                head = start == NoMember ? default : start..end;
                start = NoMember;
                afterMetadata = true;
                continue;
            }

            const int DocumentDepth = 1; // the document is the outermost object
            if (!scanner.TrySkipValue(JsonLimits.MaxDepth - DocumentDepth))
            {
                return false;
            }

            // The members begin at the quote before the first name.
            start = start == NoMember ? name.Start - 1 : start;
            end = scanner.Position;
        }

        Range last = start == NoMember ? default : start..end;
        if (afterMetadata)
        {
            tail = last;
        }
        else
        {
            head = last;
        }

        return scanner.Error == InputErrorCode.None;
    }

    private ParsedDocument Minify(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail, ReadOnlySpan<byte> metadata)
    {
        _minified.Clear();
        Span<byte> minified = _minified.Reserve(head.Length + tail.Length + metadata.Length);
        int headLength = JsonText.Minimise(head, minified);
        int tailLength = JsonText.Minimise(tail, minified[headLength..]);
        int metadataLength = JsonText.Minimise(metadata, minified[(headLength + tailLength)..]);
        return Assemble(
            minified[..headLength],
            minified.Slice(headLength, tailLength),
            minified.Slice(headLength + tailLength, metadataLength)
        );
    }

    private ParsedDocument Assemble(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail, ReadOnlySpan<byte> metadata) =>
        new()
        {
            IsRead = true,
            BodyHead = head,
            BodyTail = tail,
            Metadata = metadata,
            Collection = _metadata.Collection,
            CollectionChange = _metadata.CollectionChange,
            MetadataId = _metadata.Id,
            HasInvalidId = _metadata.HasInvalidId,
            NamesCounters = _metadata.NamesCounters,
            NamesAttachments = _metadata.NamesAttachments,
            ExpiresAtTicks = _metadata.ExpiresAtTicks,
            ExpiryChange = _metadata.ExpiryChange,
        };
}
