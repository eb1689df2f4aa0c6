using System.Buffers;
using System.IO.Pipelines;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Server.Raven;

namespace Rookery.Server.Transfer;

/// <summary>
/// Parses the lines of an import into bulk commands and proposes them. One command is proposed while the next is
/// parsed, so at most two exist. Not thread-safe.
/// </summary>
internal sealed class NdjsonImport : IDisposable
{
    private const int CommandBytes = 1 << 20;
    private const int CommandDocuments = 4096;
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(200);

    private readonly Database _database;
    private readonly IConsensus _consensus;
    private readonly StreamedRoom _room;
    private readonly TimeProvider _time;
    private readonly NdjsonReader _reader = new();
    private readonly ReplacedNames _replaced;
    private BatchWriter _writer;
    private long _rewrittenBytes; // bytes of counter names that the current command rewrites
    private Task _inFlight = Task.CompletedTask;

    public NdjsonImport(Database database, IConsensus consensus, StreamedRoom room, TimeProvider time)
    {
        _database = database;
        _replaced = new ReplacedNames(database);
        _consensus = consensus;
        _room = room;
        _time = time;
        _writer = Begin();
    }

    /// <summary>Number of the last line read, from 1.</summary>
    public long Line => _reader.Line;

    /// <summary>Length of an incomplete line so far, in bytes.</summary>
    public int CollectedBytes => _reader.CollectedBytes;

    /// <summary>Number of documents that are durable.</summary>
    public long Stored { get; private set; }

    /// <summary>Number of the line up to which all valid lines are durable; 0 before the first.</summary>
    public long StoredLine { get; private set; }

    /// <summary>Whether the import ended because a command, or a large line, was refused.</summary>
    public bool IsWriteRefused { get; private set; }

    /// <summary>Number of lines that list counters, which are not imported.</summary>
    public long WithoutCounters { get; private set; }

    /// <summary>Number of lines that list attachments, which are not imported.</summary>
    public long WithoutAttachments { get; private set; }

    /// <summary>Number of invalid lines.</summary>
    public long Bad { get; private set; }

    /// <summary>Why the import ended early; null if it did not.</summary>
    public Rejection? Rejection { get; private set; }

    /// <summary>
    /// Whether the lines read so far can be sent again without a further effect: each has a document with a complete
    /// id.
    /// </summary>
    public bool MayBeRepeated { get; private set; } = true;

    /// <summary>Adds bytes to read; they must stay unchanged until <see cref="ReadUntilDue"/> returns false.</summary>
    public void Feed(ReadOnlyMemory<byte> bytes) => _reader.Feed(bytes);

    /// <summary>Marks the end of the body.</summary>
    public void Complete() => _reader.Complete();

    /// <summary>Reads the bytes that were fed.</summary>
    /// <param name="refuse">Called with the number and reason of each bad line.</param>
    /// <returns>True if a command is full and <see cref="FlushAsync"/> is due; false if all bytes are read.</returns>
    public bool ReadUntilDue(Action<long, string> refuse)
    {
        while (true)
        {
            switch (_reader.Read(out var document, out var error))
            {
                case StreamRead.Item when document.HasInvalidId:
                    Bad++;
                    refuse(
                        _reader.Line,
                        "@id must be a string ($.@metadata.@id). Send the document's id, or leave @id out to get one."
                    );
                    break;
                case StreamRead.Item when DocumentId.TryValidateForStore(document.MetadataId, out error):
                    MayBeRepeated &= document.MetadataId is [.., not ((byte)'/' or (byte)'|')];
                    _writer.Put(document.MetadataId, ExpectedChangeVector.None, document);
                    WithoutCounters += document.NamesCounters ? 1 : 0;
                    WithoutAttachments += document.NamesAttachments ? 1 : 0;
                    _rewrittenBytes += _replaced.NameBytesOf(document.MetadataId);
                    if (
                        _rewrittenBytes >= ReplacedNames.MaxBytesOfCommand
                        || _writer.Length >= CommandBytes
                        || _writer.Count >= CommandDocuments
                        || !_room.HasRoomForChunk(_writer.Length, CommandBytes)
                    )
                    {
                        return true;
                    }

                    break;
                case StreamRead.Item or StreamRead.Error:
                    Bad++;
                    refuse(
                        _reader.Line,
                        error.Code == InputErrorCode.TrailingData
                            ? $"{error} An import has one value on each line. With curl, send the file by "
                                + "--data-binary: -d removes the line breaks."
                            : error.ToString()
                    );
                    break;
                default:
                    return false;
            }
        }
    }

    /// <summary>Proposes the gathered documents, once the previous command is durable.</summary>
    public async Task FlushAsync(CancellationToken cancellation)
    {
        await _inFlight;
        if (_writer.Count == 0 || Rejection is not null)
        {
            return;
        }

        int count = _writer.Count;
        var command = _writer.Complete();
        _writer = Begin();
        _rewrittenBytes = 0;
        _inFlight = StoreAsync(command, count, _reader.Line, cancellation);
        _room.RenewChunk();
    }

    /// <summary>Ends the import because the body cannot be read further. Stored documents stay.</summary>
    public void Break(string sentence) => Rejection ??= new Rejection(RejectionKind.Invalid, sentence);

    /// <summary>
    /// Ends the import because a line was refused before it was read, as for lack of memory. Stored documents stay.
    /// </summary>
    public void RefuseLine(string sentence)
    {
        if (Rejection is null)
        {
            Rejection = new Rejection(RejectionKind.Overloaded, sentence);
            IsWriteRefused = true;
        }
    }

    /// <summary>Ends the import after the lines that were read, because the node stops.</summary>
    public void Stop() =>
        Rejection ??= new Rejection(
            RejectionKind.Stopping,
            $"{Readiness.NodeStops} The import ended after line {Line}: send the lines after it again, to this node "
                + "when it is back or to another member."
        );

    /// <summary>Stores all gathered documents and waits until they are durable.</summary>
    public async ValueTask StoreRestAsync(CancellationToken cancellation)
    {
        await FlushAsync(cancellation);
        await _inFlight;
        _room.ReleaseChunks();
    }

    /// <summary>
    /// Waits for bytes of the body. While the client pauses, stores the gathered documents and releases their room.
    /// </summary>
    public async Task<ReadResult> StoreWhileWaitingAsync(Task<ReadResult> read, CancellationToken cancellation)
    {
        await Task.WhenAny(read, _inFlight);
        if (!read.IsCompleted)
        {
            await StoreRestAsync(cancellation);
        }

        return await read;
    }

    public void Dispose()
    {
        _writer.Dispose();
        _reader.Dispose();
    }

    private BatchWriter Begin() => new(CommandKind.BulkPut, _database.Number);

    // Retries while the node is overloaded, from a copy: proposing consumes the command.
    private async Task StoreAsync(CommandBuffer command, int count, long line, CancellationToken cancellation)
    {
        using var copy = Copy(command);
        while (true)
        {
            var outcome = await _consensus.ProposeAsync(command, cancellation);
            if (outcome.Rejection is null)
            {
                Stored += count;
                StoredLine = line;
                return;
            }

            if (outcome.Rejection.Kind != RejectionKind.Overloaded)
            {
                Rejection = outcome.Rejection;
                IsWriteRefused = true;
                return;
            }

            await Task.Delay(RetryDelay, _time, cancellation);
            command = Copy(copy);
        }
    }

    private static CommandBuffer Copy(CommandBuffer command)
    {
        var copy = CommandBuffer.Rent(command.Length);
        copy.Write(command.Written.Span);
        return copy;
    }
}
