using System.Buffers;
using System.Buffers.Binary;
using Rookery.Cluster.Commit;
using Rookery.Documents.Apply;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// One entry of the log in memory: its payload as it stands in the journal and on the wire, and, where it was proposed
/// here, its content and those who wait for its outcomes. Reused. Its memory goes back when nobody reads it any more:
/// <see cref="Retain"/> and <see cref="Release"/> are called under the consensus lock.
/// </summary>
internal sealed class LogFrame
{
    /// <summary>
    /// Bytes of commands that go into one frame; one command alone may be larger. With all heads it stays within
    /// buffers of 1 MiB.
    /// </summary>
    public const int MaxBytes = (1 << 20) - 4096;

    private readonly List<Proposal> _proposals = [];
    private PooledMemory _content;
    private PooledMemory _encoded;
    private int _contentLength;
    private int _encodedLength;
    private CommandOutcome[] _outcomes = [];
    private int _references;

    /// <summary>What it is.</summary>
    public FrameType Type { get; private set; }

    /// <summary>Its place in the log.</summary>
    public FramePosition Position { get; private set; }

    /// <summary>Commands in it whose proposers wait here.</summary>
    public int Count => _proposals.Count;

    /// <summary>Etags of all its commands.</summary>
    public int OperationCount { get; private set; }

    /// <summary>Whether one of those who wait asked for a receipt.</summary>
    public bool WantsReceipt { get; private set; }

    /// <summary>Who had it on disk when it was committed. Set before it is applied.</summary>
    public CommitReceipt? Receipt { get; set; }

    /// <summary>Bytes of its payload.</summary>
    public int Bytes => _encodedLength;

    /// <summary>The entry as it goes to the journal and to members.</summary>
    public JournalFrame Entry =>
        new(
            Type,
            Position.Index,
            Position.Term,
            Position.OperationsBefore,
            Position.OperationCount,
            _encoded.Memory[.._encodedLength]
        );

    /// <summary>
    /// Moves proposals from the front of <paramref name="waiting"/> here, as many as fit, and puts the payload
    /// together: compressed and checksummed once.
    /// </summary>
    /// <exception cref="OutOfMemoryException">There is no memory for it. The proposals are here.</exception>
    public void Fill(Queue<Proposal> waiting, LogTime time)
    {
        int bytes = 0;
        while (waiting.TryPeek(out var proposal) && (_proposals.Count == 0 || bytes + proposal.Bytes <= MaxBytes))
        {
            bytes += proposal.Bytes + FrameContent.CommandHeadBytes;
            WantsReceipt |= proposal.WantsReceipt;
            _proposals.Add(waiting.Dequeue());
        }

        Type = FrameType.Batch;
        _contentLength = FrameContent.HeadBytes + bytes;
        Build(time);
    }

    /// <summary>Gives a filled frame its place.</summary>
    public void PlaceAt(long index, long term, long operationsBefore) =>
        Position = new FramePosition(index, term, operationsBefore, OperationCount);

    /// <summary>Takes a copy of an entry that came from a leader, or that the core made.</summary>
    public void CopyFrom(in JournalFrame entry)
    {
        Type = entry.Type;
        OperationCount = entry.OperationCount;
        PlaceAt(entry.Index, entry.Term, entry.OperationsBefore);
        _encodedLength = entry.Payload.Length;
        if (_encodedLength > 0)
        {
            _encoded = PooledMemory.Rent(_encodedLength);
            entry.Payload.Span.CopyTo(_encoded.Span);
        }
    }

    /// <summary>
    /// Applies it, once it is committed and durable here. The outcomes wait for <see cref="Answer"/>.
    /// </summary>
    public void Apply(NodeStore store)
    {
        if (_contentLength == 0)
        {
            store.ApplyStored(Entry);
            return;
        }

        _outcomes = ArrayPool<CommandOutcome>.Shared.Rent(_proposals.Count);
        store.Apply(Position, _content.Span[.._contentLength], _outcomes.AsSpan(0, _proposals.Count));
    }

    /// <summary>Answers every caller of the batch.</summary>
    public void Answer(Admission admission, bool inline)
    {
        for (int i = 0; i < _proposals.Count; i++)
        {
            admission.Leave(_proposals[i].Bytes);
            _proposals[i]
                .Complete(_proposals[i].WantsReceipt ? _outcomes[i] with { Receipt = Receipt } : _outcomes[i], inline);
        }

        Forget();
    }

    /// <summary>Answers every caller of the batch with a refusal. The entry itself may live on.</summary>
    public void Refuse(Rejection rejection, Admission admission, bool inline)
    {
        foreach (var proposal in _proposals)
        {
            admission.Leave(proposal.Bytes);
            proposal.Complete(new CommandOutcome(rejection), inline);
        }

        Forget();
    }

    /// <summary>Puts its proposals back among those that wait: it got no place.</summary>
    public void GiveBack(Queue<Proposal> waiting)
    {
        var content = new FrameContent(_content.Span[.._contentLength]);
        foreach (var proposal in _proposals)
        {
            proposal.TakeBack(content.Next());
            waiting.Enqueue(proposal);
        }

        Forget();
    }

    /// <summary>Gives the payload back where the content is here too.</summary>
    public void DropPayload()
    {
        if (_contentLength > 0)
        {
            _encoded.Return();
            _encodedLength = 0;
        }
    }

    /// <summary>One more reads it.</summary>
    public void Retain() => _references++;

    /// <summary>One less reads it. With the last its memory goes back.</summary>
    /// <returns>Whether it was the last.</returns>
    public bool Release()
    {
        Invariant.Holds(_references > 0, "a frame is released by who retained it");
        if (--_references > 0)
        {
            return false;
        }

        Invariant.Holds(_proposals.Count == 0, "nobody waits for a frame that is gone");
        _encoded.Return();
        (_encodedLength, OperationCount) = (0, 0);
        return true;
    }

    private void Build(LogTime time)
    {
        Invariant.Holds(_proposals.Count > 0, "a batch has a command");
        _content = PooledMemory.Rent(_contentLength);
        var content = _content.Span[.._contentLength];
        FrameContent.WriteHead(content, time.Ticks, time.IsSteady, _proposals.Count);
        int at = FrameContent.HeadBytes;
        int operations = 0;
        foreach (var proposal in _proposals)
        {
            BinaryPrimitives.WriteInt32LittleEndian(content[at..], proposal.Bytes);
            proposal.Command.Span.CopyTo(content[(at + FrameContent.CommandHeadBytes)..]);
            at += FrameContent.CommandHeadBytes + proposal.Bytes;
            operations = checked(operations + proposal.OperationCount);
            proposal.ReleaseCommand();
        }

        Invariant.Holds(at == _contentLength, "a frame is as long as its commands");
        OperationCount = operations;
        _encoded = PooledMemory.Rent(Payload.MaxEncodedLength(_contentLength));
        _encodedLength = Payload.Encode(content, _encoded.Span);
    }

    private void Forget()
    {
        _proposals.Clear();
        WantsReceipt = false;
        Receipt = null;
        _content.Return();
        _contentLength = 0;
        ArrayPool<CommandOutcome>.Shared.Return(_outcomes, clearArray: true);
        _outcomes = [];
    }
}
