using System.Buffers;
using System.Buffers.Binary;
using Rookery.Disk;
using Rookery.Documents.Apply;
using Rookery.Journal;

namespace Rookery.Documents;

/// <summary>One batch on its way: the proposals, the frame they became, and their outcomes. Reused.</summary>
internal sealed class CommitFrame
{
    /// <summary>Bytes of commands that go into one frame; one command alone may be larger. With all heads it stays within buffers of 1 MiB.</summary>
    public const int MaxBytes = (1 << 20) - 4096;

    private readonly List<Proposal> _proposals = [];
    private PooledMemory _content;
    private PooledMemory _encoded;
    private int _contentLength;
    private CommandOutcome[] _outcomes = [];
    private FramePosition _position;

    /// <summary>Commands in it.</summary>
    public int Count => _proposals.Count;

    /// <summary>The index, once built.</summary>
    public long Index => _position.Index;

    /// <summary>Moves proposals from the front of <paramref name="waiting"/> here, as many as fit.</summary>
    public void Fill(Queue<Proposal> waiting)
    {
        int bytes = 0;
        while (waiting.TryPeek(out var proposal) && (_proposals.Count == 0 || bytes + proposal.Bytes <= MaxBytes))
        {
            bytes += proposal.Bytes + FrameContent.CommandHeadBytes;
            _proposals.Add(waiting.Dequeue());
        }

        _contentLength = FrameContent.HeadBytes + bytes;
    }

    /// <summary>Puts the frame together: the commands, compressed and checksummed once.</summary>
    public JournalFrame Build(long index, long term, long operationsBefore, long logTicks)
    {
        Invariant.Holds(_proposals.Count > 0, "a batch has a command");
        _content = PooledMemory.Rent(_contentLength);
        var content = _content.Span[.._contentLength];
        FrameContent.WriteHead(content, logTicks, _proposals.Count);
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
        _encoded = PooledMemory.Rent(Payload.MaxEncodedLength(_contentLength));
        int encodedLength = Payload.Encode(content, _encoded.Span);
        _position = new FramePosition(index, term, operationsBefore, operations);
        return new JournalFrame(FrameType.Batch, index, term, operationsBefore, operations, _encoded.Memory[..encodedLength]);
    }

    /// <summary>Applies the frame, once it is durable. The outcomes wait for <see cref="Answer"/>.</summary>
    public void Apply(Applier applier)
    {
        _encoded.Return();                              // written: apply may need the room for what it looks up
        _outcomes = ArrayPool<CommandOutcome>.Shared.Rent(_proposals.Count);
        applier.Apply(_position, _content.Span[.._contentLength], _outcomes.AsSpan(0, _proposals.Count));
    }

    /// <summary>Answers every caller of the batch.</summary>
    public void Answer(Admission admission, bool inline)
    {
        for (int i = 0; i < _proposals.Count; i++)
        {
            admission.Leave(_proposals[i].Bytes);
            _proposals[i].Complete(_outcomes[i], inline);
        }

        Clear();
    }

    /// <summary>Answers every caller of the batch with a refusal.</summary>
    public void Refuse(Rejection rejection, Admission admission, bool inline)
    {
        foreach (var proposal in _proposals)
        {
            admission.Leave(proposal.Bytes);
            proposal.Complete(new CommandOutcome(rejection), inline);
        }

        Clear();
    }

    private void Clear()
    {
        _proposals.Clear();
        _content.Return();
        _encoded.Return();
        ArrayPool<CommandOutcome>.Shared.Return(_outcomes, clearArray: true);
        _outcomes = [];
    }
}
