using System.Text.Unicode;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>Result of reading from a stream.</summary>
public enum StreamRead : byte
{
    /// <summary>The fed bytes contain no further complete element: feed more.</summary>
    NeedMore = 0,

    /// <summary>An element was read.</summary>
    Item = 1,

    /// <summary>
    /// The array's closing bracket was read. Reading ends there, because RavenDB's client does not end the request.
    /// </summary>
    End = 2,

    /// <summary>
    /// Bulk insert: the stream cannot be read further. NDJSON: the line was refused, and reading continues after it.
    /// </summary>
    Error = 3,

    /// <summary>
    /// Bulk insert: an attachment was read, and the bytes of its content come next (see
    /// <see cref="BulkInsertReader.TakeContent"/>).
    /// </summary>
    Content = 4,
}

/// <summary>
/// Reads the body of RavenDB's bulk_insert, which arrives in chunks of any size. Feed a chunk, then read until
/// <see cref="StreamRead.NeedMore"/>; the reader does not use the chunk afterwards.
/// </summary>
/// <remarks>
/// An element within one chunk is parsed in place, in one pass. An element that spans chunks is copied;
/// <see cref="ElementBoundary"/> finds its end, then it is parsed.
/// </remarks>
/// <param name="formatLevel">The cluster's format level; it decides whether counters and attachments are
/// accepted.</param>
public sealed class BulkInsertReader(int formatLevel = FormatLevel.Oldest) : IDisposable
{
    /// <summary>Maximum length of an element: a document and the members around it.</summary>
    private const int MaxElementBytes = DocumentLimits.MaxDocumentBytes + (16 * 1024);

    private readonly BulkInsertElement _element = new(formatLevel);
    private readonly PooledBytes _collected = new();
    private ReadOnlyMemory<byte> _chunk;
    private int _position; // in the chunk
    private long _chunkOffset; // of the chunk in the stream
    private long _elementOffset; // of the current element in the stream
    private ElementBoundary _boundary;
    private State _state = State.BeforeArray;
    private InputError _failure;
    private int _addedCounterBytes; // offset of the current element's next operation to add

    private enum State
    {
        BeforeArray,
        BeforeFirst,
        BeforeElement,
        InElement,
        InContent,
        AfterElement,
        Ended,
        Failed,
    }

    /// <summary>
    /// Number of elements read, including heartbeats; also the number of the next element, counted from 0.
    /// </summary>
    public long ElementCount { get; private set; }

    /// <summary>Bytes collected of an element that spans chunks; 0 between elements.</summary>
    public int CollectedBytes => _state == State.InElement ? _collected.Length : 0;

    /// <summary>The id of the document with the attachment that was read.</summary>
    public ReadOnlySpan<byte> AttachedId => _element.Id;

    /// <summary>The name of the attachment.</summary>
    public ReadOnlySpan<byte> AttachmentName => _element.Attachment is { } attachment ? attachment.Name : default;

    /// <summary>The content type of the attachment; empty if there is none.</summary>
    public ReadOnlySpan<byte> AttachmentType =>
        _element.Attachment is { } attachment ? attachment.ContentType : default;

    /// <summary>Bytes of the attachment's content that were not taken yet.</summary>
    public long ContentLeft { get; private set; }

    /// <summary>
    /// After <see cref="StreamRead.Content"/>: takes the bytes of the content that the fed chunk has. Before the next
    /// chunk is fed, the caller must have used them. When <see cref="ContentLeft"/> is 0, reading continues.
    /// </summary>
    public ReadOnlyMemory<byte> TakeContent()
    {
        Invariant.Holds(_state == State.InContent, "bytes of a content follow its attachment");
        int count = (int)Math.Min(ContentLeft, _chunk.Length - _position);
        var taken = _chunk.Slice(_position, count);
        _position += count;
        ContentLeft -= count;
        _state = ContentLeft == 0 ? State.AfterElement : State.InContent;
        return taken;
    }

    /// <summary>
    /// Sets the next bytes. They must not change until <see cref="Read"/> returns <see cref="StreamRead.NeedMore"/>.
    /// </summary>
    public void Feed(ReadOnlyMemory<byte> chunk)
    {
        _chunkOffset += _chunk.Length;
        _chunk = chunk;
        _position = 0;
    }

    /// <summary>
    /// Adds the element that was read last: a document to the batch, or operations on counters to the gathered ones,
    /// until their limit is reached.
    /// </summary>
    /// <param name="batch">The batch.</param>
    /// <param name="gathered">Operations on counters, which are added to the batch later.</param>
    /// <param name="id">The id.</param>
    /// <param name="document">The document, if there are no counters.</param>
    /// <returns>Whether all was added. Otherwise call <see cref="TryAddRest"/> after the gathered operations were moved
    /// to the batch.</returns>
    public bool AddTo(BatchWriter batch, GatheredCounters gathered, ReadOnlySpan<byte> id, in ParsedDocument document)
    {
        if (_element.Counters is not null)
        {
            _addedCounterBytes = 0;
            return TryAddRest(gathered);
        }

        batch.Put(id, ExpectedChangeVector.None, document);
        gathered.AddPut(id);
        return true;
    }

    /// <summary>Adds the operations on counters for which <see cref="AddTo"/> had no room.</summary>
    /// <inheritdoc cref="AddTo"/>
    public bool TryAddRest(GatheredCounters gathered) =>
        _element.Counters is not { } counters || gathered.TryAdd(_element.Id, counters, ref _addedCounterBytes);

    /// <summary>
    /// Reads the next document, or the next operations on a document's counters. Skips heartbeats.
    /// </summary>
    /// <param name="id">The id as sent, without escapes, checked for a put; valid until the next call.</param>
    /// <param name="document">The document; valid until the next call.</param>
    /// <param name="error">Set with <see cref="StreamRead.Error"/>, and by every later call.</param>
    public StreamRead Read(out ReadOnlySpan<byte> id, out ParsedDocument document, out InputError error)
    {
        id = default;
        document = default;
        while (true)
        {
            error = _failure;
            if (_state == State.Failed)
            {
                return StreamRead.Error;
            }

            if (_state == State.Ended)
            {
                return StreamRead.End;
            }

            if (_state == State.InContent)
            {
                return StreamRead.Content;
            }

            long before = ElementCount;
            bool madeProgress = _state switch
            {
                State.InElement => TryCollect(out document),
                State.BeforeElement => TryReadInPlace(out document),
                _ => TrySkipPunctuation(),
            };
            if (!madeProgress)
            {
                return StreamRead.NeedMore;
            }

            if (ElementCount > before && ((_element.IsPut && document.IsRead) || _element.Counters is not null))
            {
                id = _element.Id;
                return StreamRead.Item;
            }
        }
    }

    /// <summary>
    /// Returns whether only white space follows the closing bracket in the current chunk. Call it for the chunk with
    /// the bracket and each later one.
    /// </summary>
    /// <param name="error">The error if other text follows.</param>
    public bool IsFollowedByNothing(out InputError error)
    {
        bool hasMore = TrySkipSpace();
        error = hasMore
            ? new InputError(
                InputErrorCode.UnexpectedCharacter,
                "Something follows the closing bracket of the bulk insert",
                new InputPlace(_chunkOffset + _position, Element: ElementCount),
                "End the body there; the documents before it are stored"
            )
            : default;
        return !hasMore;
    }

    /// <summary>Returns the error for a stream that ended before its closing bracket.</summary>
    public InputError Truncated() =>
        new(
            InputErrorCode.UnexpectedEnd,
            "The bulk insert ended before the closing bracket of its array",
            new InputPlace(_chunkOffset + _chunk.Length, Element: ElementCount),
            "Documents before this element may be stored; send the rest again"
        );

    /// <summary>Releases the buffers.</summary>
    public void Dispose()
    {
        _element.Dispose();
        _collected.Release();
        _chunk = default;
    }

    /// <summary>Skips white space; returns false if the chunk contains nothing else.</summary>
    private bool TrySkipSpace()
    {
        int skipped = _chunk.Span[_position..].IndexOfAnyExcept(" \t\r\n"u8);
        _position = skipped < 0 ? _chunk.Length : _position + skipped;
        return skipped >= 0;
    }

    /// <summary>Skips the punctuation between elements; returns false if the chunk ends first.</summary>
    private bool TrySkipPunctuation()
    {
        ReadOnlySpan<byte> bytes = _chunk.Span;
        if (!TrySkipSpace())
        {
            return false;
        }

        _elementOffset = _chunkOffset + _position;
        byte next = bytes[_position];
        State before = _state;
        (State following, int step) = (before, next) switch
        {
            (State.BeforeArray, (byte)'[') => (State.BeforeFirst, 1),
            (State.BeforeFirst or State.AfterElement, (byte)']') => (State.Ended, 1),
            (State.BeforeFirst, (byte)'{') => (State.BeforeElement, 0),
            (State.AfterElement, (byte)',') => (State.BeforeElement, 1),
            _ => (State.Failed, 0),
        };
        _state = following;
        _position += step;
        if (_state == State.Failed)
        {
            _failure = WithPlace(InputErrors.InJson(ErrorOf(before, next), bytes[_position..], offset: 0));
        }

        return true;
    }

    private static InputErrorCode ErrorOf(State state, byte next) =>
        next is not ((byte)'{' or (byte)'[' or (byte)'"') && !char.IsAsciiDigit((char)next)
            ? InputErrorCode.UnexpectedCharacter
        : state == State.BeforeArray ? InputErrorCode.ArrayRequired
        : state == State.BeforeFirst ? InputErrorCode.ObjectRequired
        : InputErrorCode.UnexpectedCharacter;

    /// <summary>Reads an element in place, or starts to collect it if the chunk ends within it.</summary>
    private bool TryReadInPlace(out ParsedDocument document)
    {
        document = default;
        ReadOnlySpan<byte> bytes = _chunk.Span;
        if (!TrySkipSpace())
        {
            return false;
        }

        _elementOffset = _chunkOffset + _position;
        bytes = bytes[_position..];
        JsonScanner scanner = _element.Scan(bytes);
        if (_element.TryRead(ref scanner, out document))
        {
            _position += scanner.Position;
            Finish(bytes[..scanner.Position], ref document);
            return true;
        }

        if (scanner.Error != InputErrorCode.UnexpectedEnd)
        {
            Fail(_element.Explain(scanner));
            return true;
        }

        document = default;
        _boundary = default;
        _collected.Clear();
        _state = State.InElement;
        return TryCollect(out document);
    }

    /// <summary>
    /// Appends the chunk's bytes to the collected element, and reads the element once it is complete.
    /// </summary>
    private bool TryCollect(out ParsedDocument document)
    {
        document = default;
        ReadOnlySpan<byte> bytes = _chunk.Span[_position..];
        bool isWhole = _boundary.TryFind(bytes, out int elementBytes);
        _position += elementBytes;
        if (_collected.Length + elementBytes > MaxElementBytes)
        {
            Fail(
                new InputError(
                    InputErrorCode.DocumentTooLarge,
                    $"The document is larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}",
                    new InputPlace(0),
                    "Split it into several documents"
                )
            );
            return true;
        }

        _collected.Append(bytes[..elementBytes]);
        if (!isWhole)
        {
            return false;
        }

        JsonScanner scanner = _element.Scan(_collected.Written);
        if (!_element.TryRead(ref scanner, out document) || !scanner.TryEnd())
        {
            document = default;
            Fail(_element.Explain(scanner));
            return true;
        }

        Finish(_collected.Written, ref document);
        return true;
    }

    private void Finish(ReadOnlySpan<byte> bytes, ref ParsedDocument document)
    {
        _state = State.AfterElement;
        if (!Utf8.IsValid(bytes))
        {
            document = default;
            Fail(InputErrors.InJson(InputErrorCode.InvalidUtf8, bytes, InputErrors.FirstInvalidUtf8(bytes)));
            return;
        }

        ElementCount++;
        if (_element.Attachment is { } attachment)
        {
            ContentLeft = attachment.ContentLength;
            _state = State.InContent;
        }
    }

    private void Fail(InputError error)
    {
        _state = State.Failed;
        _failure = WithPlace(error);
    }

    /// <summary>Converts a place in the element to a place in the stream.</summary>
    private InputError WithPlace(InputError error) =>
        error with
        {
            Where = new InputPlace(_elementOffset + error.Where.ByteOffset, Line: 0, error.Where.Path, ElementCount),
        };
}
