namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A host of the core, like the program: it keeps payloads, writes the journal, applies entries, and sends messages.
/// </summary>
internal sealed class SimulatedNode(NodeId id, SimulatedStore store, INodeWorld world)
{
    private readonly Output _output = new();

    // The entries of the core's log, from the one after _mirrorBase on, with their payloads.
    private readonly List<StoredEntry> _mirror = [];
    private readonly Dictionary<
        long,
        (long Before, ClientCommand? Command, Action<CommandResult>? Answer)
    > _readsAsked = [];
    private readonly List<ReadReady> _readsReady = [];
    private readonly Dictionary<long, (long Term, Action<CommandResult>? Answer)> _proposed = [];
    private StoredManifest _mirrorBase = store.Base;
    private long _applied;
    private SimulatedState _state = new();
    private readonly Queue<OutcomeHash> _outcomes = new();

    // Receives the answer to the proposal of the current step; null once the core has accepted the proposal.
    private Action<CommandResult>? _proposer;
    private long _seenCommit;

    // The term in which the core last received the log time; 0 for none.
    private long _logTimeReportedIn;

    public NodeId Id { get; } = id;

    public SimulatedStore Store { get; } = store;

    public RaftCore? Core { get; private set; }

    /// <summary>A number that grows with each start and identifies events of earlier processes.</summary>
    public int Process { get; private set; }

    public bool IsRunning => Core is not null;

    /// <summary>The last applied index.</summary>
    public long Applied => _applied;

    /// <summary>The time until which its process does nothing.</summary>
    public long PausedUntil { get; set; }

    /// <summary>The time until which its disk completes no write.</summary>
    public long StalledUntil { get; set; }

    /// <summary>How unsuitable its board is to lead; 0 for a suitable one.</summary>
    public int BoardPenalty { get; set; }

    /// <summary>The error of its clock, and whether its host reports it as synchronised.</summary>
    public (long AheadTicks, bool IsSure) Clock { get; set; } = (0, true);

    /// <summary>When its clock was last read.</summary>
    public long ClockReadAt { get; set; }

    public bool IsFetching { get; private set; }

    /// <summary>Whether apply is blocked by a damaged row: the node then installs the leader's snapshot.</summary>
    public bool IsStuck { get; set; }

    /// <summary>Whether its state differs from the correct result of its entries.</summary>
    public bool HasDiverged { get; private set; }

    /// <summary>Starts a process with what the disk has.</summary>
    public void Start()
    {
        Process++;
        Core = new RaftCore(
            Store.Start(
                Id,
                world.Random.Next(),
                countsStarts: world.Mistake != HostMistake.ForgetsStarts,
                remembersDamage: world.Mistake != HostMistake.ForgetsDamage
            ),
            world.Options,
            world.Rules
        );
        _mirror.Clear();
        _mirror.AddRange(Store.Entries);
        _mirrorBase = Store.Base;
        (_applied, _state) = (Store.Manifest.Position.Index, Store.Manifest.State.Copy());
        _seenCommit = _applied;
        (IsFetching, HasDiverged, _logTimeReportedIn) = (false, false, 0);
        Step(Input.ManifestDurable(world.Now, Store.Manifest.Position));
    }

    /// <summary>Ends the process; a random part of the write in flight is on the disk.</summary>
    public void Crash()
    {
        Store.Crash(world.Random);
        EndProcess();
    }

    /// <summary>Ends the process; nothing of the write in flight is on the disk.</summary>
    public void LosePower()
    {
        Store.LosePower();
        EndProcess();
    }

    /// <summary>Makes the result of one applied entry wrong.</summary>
    public void Diverge()
    {
        _state.Diverge();
        HasDiverged = true;
    }

    /// <summary>Gives an input to the core, and does what the core then requests.</summary>
    /// <param name="input">The input.</param>
    /// <param name="received">The entries of a received message, with their payloads.</param>
    /// <param name="payload">The payload of a proposal.</param>
    public void Step(in Input input, StoredEntry[]? received = null, long payload = 0)
    {
        var core = Core!;
        core.Step(input, _output);
        KeepEntries(core, received, payload);
        BeginWrite();
        int sent = SendMessages();
        ObserveCommit(core);
        Apply(core);
        ServeReads();
        BeginFetch();
        foreach (var (coreEvent, _) in _output.Events)
        {
            world.Mark(coreEvent.ToString());
        }

        if (core.Role == Role.Leader)
        {
            world.Oracle.RecordLeader(Id, core.Term);
        }

        if (sent > 0 || _output.Write is not null)
        {
            world.PerhapsCrash(
                this,
                _output.Messages.Any(message =>
                    message.Kind is MessageKind.Vote || message is { Kind: MessageKind.VoteReply, Refused: false }
                )
            );
        }

        if (core.HasFailed && Core == core)
        {
            world.HandleFailure(this);
        }

        while (Core == core && _outcomes.TryDequeue(out var outcome))
        {
            Step(Input.Applied(world.Now, outcome));
        }

        if (
            Core == core
            && core.Role == Role.Leader
            && _logTimeReportedIn != core.Term
            && core.TermAt(_applied) == core.Term
        )
        {
            _logTimeReportedIn = core.Term;
            Step(Input.LogTime(world.Now, _state.LastTicks));
        }
    }

    /// <summary>Handles a client's command. The answer comes immediately, later, or never.</summary>
    public void Serve(ClientCommand command, long payload, Action<CommandResult> answer, bool isForwarded = false)
    {
        var core = Core!;
        if (!command.Writes)
        {
            Read(world.NextNumber(), command, answer);
        }
        else if (core.Role == Role.Leader)
        {
            Propose(payload, answer);
        }
        else if (!core.Leader.IsNone && !isForwarded)
        {
            world.Forward(this, core.Leader, command, payload, answer);
        }
        else
        {
            answer(CommandResult.NotLed);
        }
    }

    public void Propose(long payload, Action<CommandResult>? answer = null)
    {
        _proposer = answer;
        // Entries of 100 to 2099 bytes.
        Step(Input.Propose(world.Now, 100 + (int)(payload % 2000)), payload: payload);
        if (_proposer is not null)
        {
            _proposer = null;
            answer!(CommandResult.NotLed);
        }
    }

    public void Read(long number, ClientCommand? command = null, Action<CommandResult>? answer = null)
    {
        _readsAsked[number] = (world.Oracle.Acknowledged, command, answer);
        Step(Input.Read(world.Now, number));
    }

    /// <summary>Answers a command from the applied state.</summary>
    public CommandResult Peek(ClientCommand command) => _state.Read(command);

    public ChangeAnswer Change(MemberChange change, NodeId node)
    {
        Step(Input.ChangeMember(world.Now, change, node));
        return _output.ChangeAnswer;
    }

    public ClockAnswer ConfirmClock()
    {
        Step(Input.ConfirmClock(world.Now));
        return _output.ClockAnswer;
    }

    /// <summary>Flushes the applied state into the manifest, and releases a part of the journal.</summary>
    /// <param name="share">The share of the applied entries that the journal releases, from 0 to 1.</param>
    public void Flush(double share)
    {
        var core = Core!;
        if (_applied <= Store.Manifest.Position.Index || IsFetching)
        {
            return;
        }

        Store.Flush(ManifestAt(_applied));
        if (world.Random.Next(4) > 0)
        {
            // In every fourth case the core learns of the manifest later, after the entries were released.
            ReportManifest();
        }

        long through = Store.Base.Position.Index + (long)((_applied - Store.Base.Position.Index) * share);
        if (Core == core && through > Store.Base.Position.Index)
        {
            // The journal keeps the entries after this index, although the manifest may contain a much later state.
            var at = ManifestAt(through);
            Store.Release(through, at);
            _mirror.RemoveRange(0, (int)(through - _mirrorBase.Position.Index));
            _mirrorBase = at;
            Step(Input.Released(world.Now, through));
        }
    }

    public void ReportManifest() => Step(Input.ManifestDurable(world.Now, Store.Manifest.Position));

    /// <summary>Handles the arrival of a fetched snapshot.</summary>
    /// <param name="manifest">The snapshot; null when the fetch failed.</param>
    /// <param name="committedBy">The sender's term.</param>
    public void Install(StoredManifest? manifest, long committedBy)
    {
        var core = Core!;
        IsFetching = false;
        if (
            manifest is null
            || !(core.MayInstall(manifest.Position, committedBy) || IsForTables(manifest.Position, committedBy))
        )
        {
            Step(Input.SnapshotFailed(world.Now));
            return;
        }

        bool keepsTail = core.KeepsTailAfter(manifest.Position);
        Store.Install(manifest, keepsTail, isOneStep: world.Mistake != HostMistake.InstallsInTwoSteps);
        if (world.DiesInInstall(this))
        {
            return;
        }

        if (!keepsTail)
        {
            _mirror.Clear();
            _mirrorBase = manifest;
        }

        (_applied, _state) = (manifest.Position.Index, manifest.State.Copy());
        if (IsStuck)
        {
            IsStuck = false;
            world.Mark("tables replaced");
        }

        world.Mark(keepsTail ? "manifest kept a tail" : "manifest replaced the log");
        var configuration =
            world.Mistake == HostMistake.KeepsOldConfiguration ? core.Configuration : manifest.Configuration;
        Step(
            Input.SnapshotInstalled(
                world.Now,
                manifest.Position,
                committedBy,
                configuration,
                manifest.ConfigurationIndex
            )
        );
    }

    /// <summary>When apply is blocked by damage, fetches the leader's snapshot, as the real host does.</summary>
    public void SeekState()
    {
        if (IsStuck && !IsFetching && !Core!.Leader.IsNone && Core.Role != Role.Leader)
        {
            IsFetching = true;
            world.FetchLater(this, Core.Leader);
        }
    }

    private bool IsForTables(LogPosition manifest, long committedBy) =>
        IsStuck && manifest.Index >= _applied && Core!.MayReplaceTables(manifest, committedBy);

    private void EndProcess()
    {
        Core = null;
        _readsAsked.Clear();
        _readsReady.Clear();
        _proposed.Clear();
        _outcomes.Clear();
    }

    private StoredManifest ManifestAt(long index)
    {
        var (configuration, configurationIndex) = (_mirrorBase.Configuration, _mirrorBase.ConfigurationIndex);
        foreach (var stored in _mirror)
        {
            if (stored.Entry.Index <= index && stored.Entry.Configuration is { } newer)
            {
                (configuration, configurationIndex) = (newer, stored.Entry.Index);
            }
        }

        long term =
            index == _mirrorBase.Position.Index
                ? _mirrorBase.Position.Term
                : _mirror[(int)(index - _mirrorBase.Position.Index - 1)].Entry.Term;
        return new StoredManifest(new LogPosition(term, index), configuration, configurationIndex, _state.Copy());
    }

    // Follows the core's log: drops replaced entries, and adds entries that were proposed, made by the core, or
    // received.
    private void KeepEntries(RaftCore core, StoredEntry[]? received, long payload)
    {
        if (_output.DroppedAfter >= 0 && _output.DroppedAfter < _mirrorBase.Position.Index + _mirror.Count)
        {
            world.Mark("entries replaced");
            int kept = (int)Math.Max(_output.DroppedAfter - _mirrorBase.Position.Index, 0);
            _mirror.RemoveRange(kept, _mirror.Count - kept);
        }

        if (_output.Proposed is { } position)
        {
            var time = core.TimeAfter(
                world.Now,
                Math.Max(_state.LastTicks, _mirror.FindLast(entry => entry.Time.Ticks > 0).Time.Ticks)
            );
            _mirror.Add(
                new StoredEntry(
                    new Entry(position.Index, position.Term, EntryType.Batch, Bytes: 100),
                    payload,
                    time,
                    world.TrueTicks
                )
            );
            _proposed[position.Index] = (position.Term, _proposer);
            _proposer = null;
        }

        foreach (var made in _output.Made)
        {
            // A negative payload, so that no client's command has it.
            _mirror.Add(new StoredEntry(made, -made.Index - (made.Term << 32)));
        }

        foreach (var entry in received ?? [])
        {
            if (
                entry.Entry.Index == _mirrorBase.Position.Index + _mirror.Count + 1
                && core.TermAt(entry.Entry.Index) == entry.Entry.Term
            )
            {
                _mirror.Add(entry);
            }
        }

        Assert.True(
            _mirrorBase.Position.Index + _mirror.Count == core.Last.Index,
            "the host has the entries of the core's log"
        );
    }

    private void BeginWrite()
    {
        if (_output.Write is { } write)
        {
            Store.Begin(write, Slice(write.FirstIndex, write.LastIndex));
            world.CompleteLater(this, write.Number);
        }
    }

    // Returns the entries of a range of indexes.
    private StoredEntry[] Slice(long first, long last) =>
        last < first
            ? []
            : [.. _mirror.GetRange((int)(first - _mirrorBase.Position.Index - 1), (int)(last - first + 1))];

    private int SendMessages()
    {
        foreach (var message in _output.Messages)
        {
            if (message is { Kind: MessageKind.VoteReply, Refused: false } or { Kind: MessageKind.Vote })
            {
                // A candidate has voted for itself.
                world.Oracle.RecordVote(Id, message.Term, message.Kind == MessageKind.Vote ? Id : message.To);
            }

            world.Send(
                message,
                message.Kind == MessageKind.Append ? Slice(message.Position.Index + 1, message.LastIndex) : []
            );
        }

        return _output.Messages.Count;
    }

    private void ObserveCommit(RaftCore core)
    {
        if (core.Role == Role.Leader && core.CommitIndex > _seenCommit)
        {
            ClusterOracle.CheckCommit(
                Id,
                new LogPosition(core.TermAt(core.CommitIndex), core.CommitIndex),
                core.Configuration,
                world.StoreOf
            );
        }

        _seenCommit = core.CommitIndex;
    }

    private void Apply(RaftCore core)
    {
        while (!IsStuck && _applied < core.ApplyThrough)
        {
            var entry = _mirror[(int)(_applied - _mirrorBase.Position.Index)];
            _applied++;
            Assert.Equal(_applied, entry.Entry.Index);
            _state.RecordTime(entry);
            var result = _state.Apply(
                _applied,
                entry.Payload,
                world.CommandOf(entry.Payload),
                onlyOnce: world.Mistake != HostMistake.AppliesTwice
            );
            world.Oracle.RecordApplied(Id, entry, HasDiverged ? null : _state.Hash);
            _outcomes.Enqueue(new OutcomeHash(_applied, _state.Hash));
            if (_proposed.Remove(_applied, out var proposal) && proposal.Term == entry.Entry.Term)
            {
                world.Oracle.RecordWrite(_applied);
                if (result is not null)
                {
                    proposal.Answer?.Invoke(result);
                }
            }
        }
    }

    private void ServeReads()
    {
        _readsReady.AddRange(_output.Reads);
        foreach (var ready in _readsReady)
        {
            if (_applied >= ready.Index && _readsAsked.Remove(ready.Number, out var read))
            {
                world.Oracle.RecordRead(Id, ready.Index, read.Before);
                if (read.Command is not null)
                {
                    read.Answer?.Invoke(_state.Read(read.Command));
                }
            }
        }

        _readsReady.RemoveAll(ready => _applied >= ready.Index);
    }

    private void BeginFetch()
    {
        if (_output.Fetch is { } fetch && !IsFetching)
        {
            IsFetching = true;
            world.FetchLater(this, fetch.From);
        }
    }
}
