using Rookery.Documents.Attachments;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>Gives a message to the core.</summary>
internal delegate void DeliverMessage(in Message message, ReadOnlySpan<JournalFrame> frames);

/// <summary>
/// Delays messages whose entries name contents of attachments that are not durable here, and all messages with later
/// entries. To the core this looks like a delay in the network. Heartbeats, votes and reads pass. One byte of an
/// entry's payload shows whether it names contents, so the check of other messages is cheap.
/// </summary>
/// <remarks>
/// The lock of this type is held for no I/O. One task delivers the messages of <c>_held</c>, and later messages are
/// added to <c>_held</c>, so entries keep their order.
/// </remarks>
internal sealed class AppendGate(
    RaftHost host,
    ReplicatedContents contents,
    ContentFetcher fetcher,
    DeliverMessage deliver,
    TimeProvider time,
    CancellationToken stopping
)
{
    // As much as a leader sends before it waits for an answer. Messages beyond these limits are dropped; the leader
    // sends them again afterwards.
    private const long MaxHeldBytes = 4 << 20;
    private const int MaxHeldMessages = 64;

    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan TroubleInterval = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly Queue<HeldMessage> _held = new();
    private readonly TimedSignal _changed = new(time); // set when a fetch or the term has ended
    private long _heldBytes;
    private long _term; // of the held messages
    private Message? _dropped; // the last message that found no room
    private bool _isRunning;
    private bool _isWaiting;
    private string? _waitsFor;
    private long _troubleLoggedAt;

    /// <summary>The content for which this node waits, in a sentence; null for none.</summary>
    public string? WaitsFor => Volatile.Read(ref _waitsFor);

    /// <summary>Takes a message that must wait.</summary>
    /// <returns>False if the message may be given to the core now.</returns>
    public bool TryHold(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (message.Kind != MessageKind.Append || frames.IsEmpty)
        {
            return false;
        }

        if (!HasMark(frames) && !Volatile.Read(ref _isWaiting))
        {
            return false;
        }

        var names = KeepContentsOf(frames);
        lock (_gate)
        {
            if (message.Term < _term)
            {
                return true; // drop it: the core may not know yet that the sender's term is over
            }

            if (_isWaiting && message.Term > _term)
            {
                _held.Clear(); // the next leader sends what is still missing
                (_heldBytes, _dropped) = (0, null);
                Volatile.Write(ref _term, message.Term);
                Volatile.Write(ref _isWaiting, false);
                _changed.Set(); // stop asking the former leader for its content: it may be gone
            }

            if (!_isWaiting && names.TrueForAll(IsDurable))
            {
                return false;
            }

            Volatile.Write(ref _term, message.Term);
            Volatile.Write(ref _isWaiting, true);
            Add(message, frames, names);
            if (_isRunning)
            {
                return true;
            }

            _isRunning = true;
        }

        host.Options.RunInBackground(() => _ = RunAsync());
        return true;
    }

    private static bool HasMark(ReadOnlySpan<JournalFrame> frames)
    {
        foreach (ref readonly var frame in frames)
        {
            if (Payload.IsMarked(frame.Payload.Span) && frame.Type == FrameType.Batch)
            {
                return true;
            }
        }

        return false;
    }

    // Keeps the contents that the entries name until the entries are applied, because the entries may be appended from
    // now on. Returns the contents.
    private List<(ContentName Name, long Index)> KeepContentsOf(ReadOnlySpan<JournalFrame> frames)
    {
        var found = new List<(ContentName, long)>();
        var names = new List<ContentName>();
        foreach (ref readonly var frame in frames)
        {
            // An applied entry is in the log, and its contents may have been released since.
            if (frame.Type == FrameType.Batch && frame.Index > host.Progress.Applied)
            {
                names.Clear();
                ContentName.AddOfPayload(frame.Payload.Span, names);
                foreach (var name in names)
                {
                    contents.Keep(name, frame.Index);
                    found.Add((name, frame.Index));
                }
            }
        }

        return found;
    }

    private bool IsDurable((ContentName Name, long Index) needed) => contents.IsDurable(needed.Name);

    // Under the lock.
    private void Add(in Message message, ReadOnlySpan<JournalFrame> frames, List<(ContentName, long)> names)
    {
        long bytes = 0;
        foreach (ref readonly var frame in frames)
        {
            bytes += frame.Payload.Length;
        }

        // The core would refuse all messages after a dropped one, so drop them too.
        if (
            _dropped is not null
            || (_held.Count > 0 && (_held.Count == MaxHeldMessages || _heldBytes + bytes > MaxHeldBytes))
        )
        {
            _dropped = message with { Position = new LogPosition(frames[^1].Term, message.LastIndex) };
            return;
        }

        var copies = new JournalFrame[frames.Length];
        for (int i = 0; i < frames.Length; i++)
        {
            copies[i] = frames[i] with { Payload = frames[i].Payload.ToArray() };
        }

        _held.Enqueue(new HeldMessage(message, copies, names, bytes));
        _heldBytes += bytes;
    }

    private async Task RunAsync()
    {
        using var stop = stopping.UnsafeRegister(static changed => ((TimedSignal)changed!).Set(), _changed);
        try
        {
            while (TryPeekNext(out var next))
            {
                foreach (var (name, index) in next!.Names)
                {
                    await WaitForAsync(name, index, next.Message);
                }

                // A message of the next leader ends the waits of older messages early. The older ones count as lost.
                if (IsOfTerm(next.Message))
                {
                    deliver(next.Message, next.Frames);
                }

                Remove(next);
            }
        }
        catch (OperationCanceledException)
        {
            // The node is stopping.
        }
        catch (Exception failure) when (failure is InvariantViolationException or OutOfMemoryException)
        {
            host.Options.EndProcess(failure); // the task is not awaited
        }
    }

    private bool TryPeekNext(out HeldMessage? next)
    {
        Message? dropped;
        lock (_gate)
        {
            if (_held.TryPeek(out next))
            {
                return true;
            }

            dropped = _dropped;
            _dropped = null;
            Volatile.Write(ref _isWaiting, false);
            _isRunning = false;
        }

        Volatile.Write(ref _waitsFor, null);
        if (dropped is { } last)
        {
            // Deliver an empty message at the position after the dropped entries: the core refuses it, so the leader
            // sends those entries again at once.
            deliver(last, []);
        }

        return false;
    }

    private void Remove(HeldMessage delivered)
    {
        lock (_gate)
        {
            if (_held.TryPeek(out var first) && ReferenceEquals(first, delivered))
            {
                _held.Dequeue();
                _heldBytes -= delivered.Bytes;
            }
        }
    }

    // Once false, it stays false, because terms only grow. The core may know a later term from a vote.
    private bool IsOfTerm(in Message message) =>
        Volatile.Read(ref _term) == message.Term && host.Core.Term <= message.Term;

    private async Task WaitForAsync(ContentName name, long index, Message message)
    {
        var delay = FirstDelay;
        while (IsOfTerm(message))
        {
            stopping.ThrowIfCancellationRequested();
            FetchResult end = default;
            try
            {
                if (index <= host.Progress.Applied || await contents.CheckAsync(name))
                {
                    return;
                }

                Volatile.Write(ref _waitsFor, $"It waits for the content {name.Hash.ToHex()} of an attachment.");
                if (await FetchAsync(name, message) is not { } ended)
                {
                    return; // superseded
                }

                end = ended;
            }
            catch (DiskException refused)
            {
                end = end with { Trouble = refused.Message };
            }

            // GoneThrough: at a member that has applied the entry, no row names the content any more. IsNowhere: no
            // member has a copy, so waiting would protect nothing.
            if (end.IsHere || end.GoneThrough >= index || end.IsNowhere)
            {
                ReportIfLost(name, end, index);
                return;
            }

            ReportTrouble(name, end.Trouble);
            await DelayAsync(delay, message);
            delay = TimeSpan.FromTicks(Math.Min(2 * delay.Ticks, LongestDelay.Ticks));
        }
    }

    // Returns null when a later leader's message supersedes this one. The later message must not wait for this fetch,
    // which may ask a dead leader.
    private async Task<FetchResult?> FetchAsync(ContentName name, Message message)
    {
        Task<FetchResult>? fetch = null;
        while (IsOfTerm(message))
        {
            stopping.ThrowIfCancellationRequested();

            // Join in each round: the fetch may be another caller's, which asks a silent member and not the leader.
            var joined = fetcher.FetchAsync(name, first: message.From);
            if (joined != fetch)
            {
                fetch = joined;
                _ = SetAtEndAsync(joined);
            }

            if (fetch.IsCompleted)
            {
                return await fetch;
            }

            await _changed.WaitAsync(CheckInterval);
            if (fetch.IsCompleted)
            {
                return await fetch;
            }
        }

        return null;
    }

    private async Task DelayAsync(TimeSpan delay, Message message)
    {
        long began = time.GetTimestamp();
        for (var left = delay; left > TimeSpan.Zero && IsOfTerm(message); left = delay - time.GetElapsedTime(began))
        {
            stopping.ThrowIfCancellationRequested();
            await _changed.WaitAsync(left); // may end early, by the signal of an earlier fetch
        }
    }

    private async Task SetAtEndAsync(Task<FetchResult> fetch)
    {
        await fetch;
        _changed.Set();
    }

    private void ReportIfLost(ContentName name, in FetchResult end, long index)
    {
        if (!end.IsHere && end.GoneThrough < index)
        {
            contents.ReportLost(name);
        }
    }

    private void ReportTrouble(ContentName name, string? reason)
    {
        if (reason is null || (_troubleLoggedAt != 0 && time.GetElapsedTime(_troubleLoggedAt) < TroubleInterval))
        {
            return;
        }

        _troubleLoggedAt = time.GetTimestamp();
        host.Options.TroubleFound?.Invoke(
            $"This node takes no further entries until it has the content {name.Hash.ToHex()} of an attachment, and "
                + $"asks for it again: {reason}"
        );
    }

    private sealed record HeldMessage(
        Message Message,
        JournalFrame[] Frames,
        List<(ContentName Name, long Index)> Names,
        long Bytes
    );
}
