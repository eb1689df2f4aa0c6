using System.Buffers;
using System.IO.Pipelines;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven;

namespace Rookery.Server.Transfer;

/// <summary>
/// Turns fed bytes into bulk commands and proposes them. While one command is on its way to the disk the next is
/// parsed; no more than those two are held. One caller at a time.
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
    private BatchWriter _writer;
    private Task _inFlight = Task.CompletedTask;

    public NdjsonImport(Database database, IConsensus consensus, StreamedRoom room, TimeProvider time)
    {
        _database = database;
        _consensus = consensus;
        _room = room;
        _time = time;
        _writer = Begin();
    }

    /// <summary>The line read last, from 1.</summary>
    public long Line => _reader.Line;

    /// <summary>Bytes of a line that came cut and is not whole yet.</summary>
    public int CollectedBytes => _reader.CollectedBytes;

    /// <summary>Documents that are durable.</summary>
    public long Stored { get; private set; }

    /// <summary>The line through which all that is good is durable; 0 before the first.</summary>
    public long StoredLine { get; private set; }

    /// <summary>Whether it ended early because a command was refused.</summary>
    public bool IsWriteRefused { get; private set; }

    /// <summary>Lines that were refused.</summary>
    public long Bad { get; private set; }

    /// <summary>Why the import ended early, or null.</summary>
    public Rejection? Rejection { get; private set; }

    /// <summary>
    /// Whether the import comes to the same when it is done twice, as far as it was read: each document has its id.
    /// </summary>
    public bool MayBeRepeated { get; private set; } = true;

    /// <summary>Gives it bytes; they must stay unchanged until <see cref="ReadUntilDue"/> has returned false.</summary>
    public void Feed(ReadOnlyMemory<byte> bytes) => _reader.Feed(bytes);

    /// <summary>Says that no further bytes come.</summary>
    public void Complete() => _reader.Complete();

    /// <summary>Reads what was fed.</summary>
    /// <param name="refuse">Told of each bad line: number and reason.</param>
    /// <returns>True when a command is full and <see cref="FlushAsync"/> is due; false when everything fed was
    /// read.</returns>
    public bool ReadUntilDue(Action<long, string> refuse)
    {
        while (true)
        {
            switch (_reader.Read(out var document, out var error))
            {
                case StreamRead.Item when document.IsIdNoText:
                    Bad++;
                    refuse(
                        _reader.Line,
                        "@id must be a string ($.@metadata.@id). Send the document's id, or leave @id out to get one."
                    );
                    break;
                case StreamRead.Item when DocumentId.TryValidateForStore(document.MetadataId, out error):
                    MayBeRepeated &= document.MetadataId is [.., not ((byte)'/' or (byte)'|')];
                    _writer.Put(document.MetadataId, ExpectedChangeVector.None, document);
                    if (
                        _writer.Length >= CommandBytes
                        || _writer.Count >= CommandDocuments
                        || !_room.HasRoomForChunk(_writer.Length, CommandBytes)
                    )
                    {
                        return true;
                    }

                    break;
                case StreamRead.Item or StreamRead.Error:
                    Bad++;
                    refuse(_reader.Line, error.ToString());
                    break;
                default:
                    return false;
            }
        }
    }

    /// <summary>Proposes what was gathered, after the command before it became durable.</summary>
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
        _inFlight = StoreAsync(command, count, _reader.Line, cancellation);
        _room.ChunkIsSent();
    }

    /// <summary>Ends it early, because no more can be read; what was stored stays.</summary>
    public void Break(string sentence) => Rejection ??= new Rejection(RejectionKind.Invalid, sentence);

    /// <summary>Ends it behind the lines that were read, because the node stops.</summary>
    public void Stop() =>
        Rejection ??= new Rejection(
            RejectionKind.Stopping,
            $"{Readiness.NodeStops} The import ended behind line {Line}: send the lines behind it again, to this node "
                + "when it is back or to another member."
        );

    /// <summary>Stores everything gathered and waits until it is durable.</summary>
    public async ValueTask StoreRestAsync(CancellationToken cancellation)
    {
        await FlushAsync(cancellation);
        await _inFlight;
        _room.ChunksAreStored();
    }

    /// <summary>
    /// Waits for bytes; when the client pauses, what was gathered goes to the disk meanwhile and its room to others.
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

    // An import has no reason to give up when others write much: it waits its turn. A refused command is gone, so a
    // copy is kept for the next try.
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
