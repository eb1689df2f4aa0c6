namespace Rookery.Raft.Tests.Simulation;

/// <summary>A host of the core as the program is one: it keeps payloads, writes the journal, applies, and sends.</summary>
internal sealed class SimulatedNode(NodeId id, SimulatedStore store, INodeWorld world)
{
    private readonly Output output = new();
    private readonly List<StoredEntry> mirror = [];
    private readonly Dictionary<long, long> readsAsked = [];
    private readonly List<ReadReady> readsReady = [];
    private readonly Dictionary<long, long> proposed = [];
    private StoredManifest mirrorBase = store.Base;
    private long applied;
    private long stateHash;
    private long seenCommit;

    public NodeId Id { get; } = id;

    public SimulatedStore Store { get; } = store;

    public RaftCore? Core { get; private set; }

    /// <summary>Grows with each start, so that what belongs to an earlier process is known.</summary>
    public int Process { get; private set; }

    public bool IsRunning => Core is not null;

    public long Applied => applied;

    public long PausedUntil { get; set; }

    public long StalledUntil { get; set; }

    public bool IsFetching { get; private set; }

    public void Start()
    {
        Process++;
        Core = new RaftCore(Store.Start(Id, world.Random.Next()), world.Options, world.Rules);
        mirror.Clear();
        mirror.AddRange(Store.Entries);
        mirrorBase = Store.Base;
        (applied, stateHash) = (Store.Manifest.Position.Index, Store.Manifest.StateHash);
        seenCommit = applied;
        IsFetching = false;
        Step(Input.ManifestDurable(world.Now, Store.Manifest.Position));
    }

    public void Crash()
    {
        Core = null;
        Store.Crash(world.Random);
        readsAsked.Clear();
        readsReady.Clear();
        proposed.Clear();
    }

    public void Step(in Input input, StoredEntry[]? received = null, long payload = 0)
    {
        var core = Core!;
        core.Step(input, output);
        KeepEntries(core, received, payload);
        BeginWrite();
        int sent = SendMessages();
        ObserveCommit(core);
        Apply(core);
        ServeReads();
        BeginFetch();
        foreach (var (what, _) in output.Events)
        {
            world.Saw(what.ToString());
            if (what == CoreEvent.DamageHealed)
            {
                Store.Healed();
            }
        }

        if (core.Role == Role.Leader)
        {
            world.Oracle.SeesLeader(Id, core.Term);
        }

        if (sent > 0 || output.Write is not null)
        {
            world.PerhapsCrash(this, output.Messages.Any(message => message.Kind is MessageKind.Vote || message is { Kind: MessageKind.VoteReply, Refused: false }));
        }
    }

    public void Propose(long payload)
    {
        Step(Input.Propose(world.Now, 100 + (int)(payload % 2000)), payload: payload);
    }

    public void Read(long number)
    {
        readsAsked[number] = world.Oracle.Acknowledged;
        Step(Input.Read(world.Now, number));
    }

    public ChangeAnswer Change(MemberChange change, NodeId node)
    {
        Step(Input.ChangeMember(world.Now, change, node));
        return output.ChangeAnswer;
    }

    /// <summary>Flushes what is applied into the manifest, and gives a part of the journal back.</summary>
    public void Flush(double share)
    {
        var core = Core!;
        if (applied <= Store.Manifest.Position.Index || IsFetching)
        {
            return;
        }

        Store.Flush(ManifestAt(applied));
        Step(Input.ManifestDurable(world.Now, Store.Manifest.Position));
        long through = Store.Base.Position.Index + (long)((applied - Store.Base.Position.Index) * share);
        if (Core == core && through > Store.Base.Position.Index)
        {
            // What stays of the journal begins behind this entry; the manifest knows the state far ahead of it.
            var at = ManifestAt(through);
            Store.Release(through, at);
            mirror.RemoveRange(0, (int)(through - mirrorBase.Position.Index));
            mirrorBase = at;
            Step(Input.Released(world.Now, through));
        }
    }

    /// <summary>A fetched manifest has arrived.</summary>
    public void Install(StoredManifest? manifest)
    {
        var core = Core!;
        IsFetching = false;
        if (manifest is null || !core.MayInstall(manifest.Position))
        {
            Step(Input.ManifestFailed(world.Now));
            return;
        }

        bool keepsTail = core.KeepsTailBehind(manifest.Position);
        Store.Install(manifest, keepsTail);
        if (!keepsTail)
        {
            mirror.Clear();
            mirrorBase = manifest;
        }

        (applied, stateHash) = (manifest.Position.Index, manifest.StateHash);
        world.Saw(keepsTail ? "manifest kept a tail" : "manifest replaced the log");
        Step(Input.ManifestInstalled(world.Now, manifest.Position, manifest.Configuration, manifest.ConfigurationIndex));
        if (Core is not null)
        {
            Step(Input.ManifestDurable(world.Now, manifest.Position));
        }
    }

    private StoredManifest ManifestAt(long index)
    {
        var (configuration, configurationIndex) = (mirrorBase.Configuration, mirrorBase.ConfigurationIndex);
        foreach (var held in mirror)
        {
            if (held.Entry.Index <= index && held.Entry.Configuration is { } newer)
            {
                (configuration, configurationIndex) = (newer, held.Entry.Index);
            }
        }

        long term = index == mirrorBase.Position.Index ? mirrorBase.Position.Term : mirror[(int)(index - mirrorBase.Position.Index - 1)].Entry.Term;
        return new StoredManifest(new LogPosition(term, index), configuration, configurationIndex, index == applied ? stateHash : 0);
    }

    private void KeepEntries(RaftCore core, StoredEntry[]? received, long payload)
    {
        if (output.DroppedAfter >= 0 && output.DroppedAfter < mirrorBase.Position.Index + mirror.Count)
        {
            world.Saw("entries replaced");
            int kept = (int)Math.Max(output.DroppedAfter - mirrorBase.Position.Index, 0);
            mirror.RemoveRange(kept, mirror.Count - kept);
        }

        if (output.Proposed is { } position)
        {
            mirror.Add(new StoredEntry(new Entry(position.Index, position.Term, EntryType.Batch, 100), payload));
            proposed[position.Index] = position.Term;
        }

        foreach (var made in output.Made)
        {
            mirror.Add(new StoredEntry(made, -made.Index - (made.Term << 32)));
        }

        foreach (var entry in received ?? [])
        {
            if (entry.Entry.Index == mirrorBase.Position.Index + mirror.Count + 1 && core.TermAt(entry.Entry.Index) == entry.Entry.Term)
            {
                mirror.Add(entry);
            }
        }

        Assert.True(mirrorBase.Position.Index + mirror.Count == core.Last.Index, "the host holds what the core knows");
    }

    private void BeginWrite()
    {
        if (output.Write is { } write)
        {
            Store.Begin(write, Slice(write.FirstIndex, write.LastIndex));
            world.CompleteLater(this, write.Number);
        }
    }

    private StoredEntry[] Slice(long first, long last) => last < first ? [] : [.. mirror.GetRange((int)(first - mirrorBase.Position.Index - 1), (int)(last - first + 1))];

    private int SendMessages()
    {
        foreach (var message in output.Messages)
        {
            if (message is { Kind: MessageKind.VoteReply, Refused: false })
            {
                world.Oracle.SeesVote(Id, message.Term, message.To);
            }

            world.Send(message, message.Kind == MessageKind.Append ? Slice(message.Position.Index + 1, message.LastIndex) : []);
        }

        return output.Messages.Count;
    }

    private void ObserveCommit(RaftCore core)
    {
        if (core.Role == Role.Leader && core.CommitIndex > seenCommit)
        {
            ClusterOracle.SeesCommit(Id, new LogPosition(core.TermAt(core.CommitIndex), core.CommitIndex), core.Configuration, world.StoreOf);
        }

        seenCommit = core.CommitIndex;
    }

    private void Apply(RaftCore core)
    {
        while (applied < core.ApplyThrough)
        {
            var entry = mirror[(int)(applied - mirrorBase.Position.Index)];
            applied++;
            Assert.Equal(applied, entry.Entry.Index);
            stateHash = unchecked((stateHash * 31) + entry.Payload);
            world.Oracle.SeesApplied(Id, entry, stateHash);
            if (proposed.Remove(applied, out long term) && term == entry.Entry.Term)
            {
                world.Oracle.AcknowledgesWrite(applied);
            }
        }
    }

    private void ServeReads()
    {
        readsReady.AddRange(output.Reads);
        foreach (var ready in readsReady)
        {
            if (applied >= ready.Index && readsAsked.Remove(ready.Number, out long before))
            {
                world.Oracle.ServesRead(Id, ready.Index, before);
            }
        }

        readsReady.RemoveAll(ready => applied >= ready.Index);
    }

    private void BeginFetch()
    {
        if (output.Fetch is { } fetch)
        {
            IsFetching = true;
            world.FetchLater(this, fetch.From);
        }
    }
}
