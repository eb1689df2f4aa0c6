using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Random changes of documents with revisions, cut by power losses, compared with a model: each revision that was
/// acknowledged is read back equal, and none that was removed.
/// </summary>
public sealed class RevisionCrashTests
{
    private const int Points = 400;

    [Fact]
    public void Acknowledged_revisions_survive_power_cuts_and_removed_ones_do_not_return()
    {
        var search = new CrashSearch { Points = Points, Runs = 10 };
        search.Verify(static seed => new RevisionWork(seed).Run(), RevisionWork.Check);
        if (!CrashSearch.IsReplay)
        {
            Assert.True(search.Judged >= Points, $"only {search.Judged} power cuts were judged");
        }
    }

    [Fact]
    public void Random_changes_give_the_revisions_of_the_model()
    {
        for (int seed = 100; seed < 130; seed++)
        {
            var (disk, states) = new RevisionWork(seed).Run(steps: 250);
            RevisionWork.Check(disk.AfterPowerLoss(seed), states, disk.OperationCount);
        }
    }
}

/// <summary>Makes random commands on a node, and keeps the expected revisions after each.</summary>
internal sealed class RevisionWork(int seed)
{
    private static readonly long Now = new DateTime(2000, 1, 1, 0, 0, 0, DateTimeKind.Utc).Ticks;
    private static readonly string[] Ids = ["d0", "d1", "d2", "d3", "d4"];
    private static readonly RevisionRule?[] Rules =
    [
        null,
        new RevisionRule(),
        new RevisionRule { MinimumToKeep = 3 },
        new RevisionRule { MinimumToKeep = 2, MaximumDeletes = 1 },
        new RevisionRule { PurgesOnDelete = true },
        new RevisionRule { MinimumToKeep = 4, PurgesOnDelete = true },
        new RevisionRule { IsDisabled = true },
        new RevisionRule { MinimumToKeep = 0 },
    ];

    private readonly Random _random = new(seed);
    private readonly SortedDictionary<string, ModelRevisions> _model = new(StringComparer.Ordinal);
    private SteppedNode _node = null!;
    private RevisionRule? _rule;
    private long _importedTicks = new DateTime(2200, 1, 1, 0, 0, 0, DateTimeKind.Utc).Ticks;
    private string? _withoutHistory; // a document whose revisions the next step imports
    private long _versionTicks = new DateTime(1990, 1, 1, 0, 0, 0, DateTimeKind.Utc).Ticks;

    public (SimulatedDisk Disk, List<State> States) Run(int steps = 60)
    {
        var disk = new SimulatedDisk("/data");
        var states = new List<State>();
        var time = new SimulatedTimeProvider();
        _node = SteppedNode.Open(disk, time);
        try
        {
            Propose(CommandEncoder.CreateDatabase("db", "0123456789012345678901"));
            states.Add(new State(disk.OperationCount, Describe(_model)));
            for (int step = 0; step < steps; step++)
            {
                Step();
                states.Add(new State(disk.OperationCount, Describe(_model)));
                Assert.Equal(states[^1].Text, Read(_node));
                if (_random.Next(15) == 0)
                {
                    _node.Core.Storage.Memtables.RequestFlush();
                    while (_node.Core.Background.DoStep()) { }
                }

                if (_random.Next(40) == 0)
                {
                    _node.Dispose();
                    _node = SteppedNode.Open(disk, time);
                }
            }
        }
        finally
        {
            _node.Dispose();
        }

        return (disk, states);
    }

    public static void Check(SimulatedDisk image, List<State> states, int operation)
    {
        if (operation < states[0].Operation)
        {
            return;
        }

        using var node = SteppedNode.Open(image, new SimulatedTimeProvider());
        var applied = node.Propose(CommandEncoder.Delete(1, "none"u8, ExpectedChangeVector.None, default));
        node.Commit();
        Assert.Null(applied.Result.Rejection);
        int last = states.FindLastIndex(state => state.Operation <= operation);
        // The next command may have been written too.
        Assert.Contains(Read(node), states.Skip(last).Take(2).Select(static state => state.Text));
    }

    private void Step()
    {
        if (_withoutHistory is { } imported)
        {
            _withoutHistory = null;
            ImportHistory(imported, _model[imported]);
            return;
        }

        string id = Ids[_random.Next(Ids.Length)];
        var document = _model.TryGetValue(id, out var found) ? found : _model[id] = new ModelRevisions();
        switch (_random.Next(14))
        {
            case 0:
                _rule = Rules[_random.Next(Rules.Length)];
                Propose(CommandEncoder.ConfigureRevisions(1, new RevisionsConfiguration(_rule, [])));
                break;
            case 1 or 2:
                long deleted = Propose(
                    CommandEncoder.Delete(1, Encoding.ASCII.GetBytes(id), ExpectedChangeVector.None, default)
                );
                document.Delete(deleted, _rule);
                break;
            case 3 when document.Body is not null:
                long forced = Act(id, RevisionAction.Force);
                document.Force(forced, _rule);
                break;
            case 4:
                RemoveSome(id, document);
                break;
            case 6:
                Import(id, document);
                break;
            case 7:
                ImportDocument(id, document);
                break;
            case 8:
                ImportDocument(id, document);
                _withoutHistory = document.Rows.Count == 0 ? id : null;
                break;
            case 5 when document.Rows.Exists(static row => row.Body is not null):
                var target = document.Rows.Where(static row => row.Body is not null).ToArray() is var rows
                    ? rows[_random.Next(rows.Length)]
                    : default;
                long reverted = Act(id, RevisionAction.Revert, target.Etag);
                document.Put(reverted, target.Body!, _rule, forces: false);
                break;
            default:
                bool forces = document.Body is not null && _random.Next(6) == 0;
                string body = Body(document.Body);
                using (var parser = DocumentParser.Rent())
                {
                    Assert.True(parser.TryParse(Encoding.ASCII.GetBytes($"{{{body}}}"), out var parsed, out _));
                    using var writer = new BatchWriter(CommandKind.Batch, 1);
                    writer.Put(Encoding.ASCII.GetBytes(id), ExpectedChangeVector.None, parsed, forces);
                    document.Put(Propose(writer.Complete()), body, _rule, forces);
                }

                break;
        }
    }

    // Revisions of a dump, which are newer than all others, below the document.
    private void Import(string id, ModelRevisions document)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, 1);
        using var parts = new VersionParts();
        var imported = new List<(string? Body, bool IsForced)>();
        int count = _random.Next(1, 4);
        for (int i = 0; i < count; i++)
        {
            bool isDeletion = _random.Next(4) == 0;
            bool isForced = !isDeletion && _random.Next(3) == 0;
            string body = Body(document.Body);
            using var parser = DocumentParser.Rent();
            Assert.True(parser.TryParse(Encoding.ASCII.GetBytes($"{{{body}}}"), out var parsed, out _));
            _importedTicks += TimeSpan.TicksPerSecond;
            writer.PutRevision(
                Encoding.ASCII.GetBytes(id),
                isDeletion ? VersionKind.Deletion : VersionKind.Revision,
                _importedTicks,
                ordinal: 0,
                parsed,
                parts,
                isForced
            );
            imported.Add((isDeletion ? null : body, isForced));
        }

        writer.Restate(Encoding.ASCII.GetBytes(id), ticks: 0);
        document.Import(Propose(writer.Complete()), imported);
    }

    // The document of a dump, with its own time, or once more the version that is stored.
    private void ImportDocument(string id, ModelRevisions document)
    {
        bool isRepeated = document is { Body: not null, Ticks: not 0 } && _random.Next(3) == 0;
        string body = isRepeated ? document.Body! : Body(document.Body);
        _versionTicks += TimeSpan.TicksPerDay;
        long ticks = isRepeated ? document.Ticks : _versionTicks;
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.ASCII.GetBytes($"{{{body}}}"), out var parsed, out _));
        using var writer = new BatchWriter(CommandKind.BulkPut, 1);
        writer.PutVersion(Encoding.ASCII.GetBytes(id), ticks, parsed);
        document.ImportDocument(Propose(writer.Complete()), body, ticks, _rule);
    }

    // The revisions of the document of a dump. As in dumps, the last one is the document's version.
    private void ImportHistory(string id, ModelRevisions document)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, 1);
        using var parts = new VersionParts();
        var older = Enumerable
            .Range(1, _random.Next(0, 4))
            .Reverse()
            .Select(age => (Body: Body(document.Body), Ticks: document.Ticks - (age * TimeSpan.TicksPerHour)))
            .ToList();
        foreach (var (body, ticks) in older.Append((document.Body!, document.Ticks)))
        {
            using var parser = DocumentParser.Rent();
            Assert.True(parser.TryParse(Encoding.ASCII.GetBytes($"{{{body}}}"), out var parsed, out _));
            writer.PutRevision(
                Encoding.ASCII.GetBytes(id),
                VersionKind.Revision,
                ticks,
                ordinal: 0,
                parsed,
                parts,
                isForced: false
            );
        }

        writer.Restate(Encoding.ASCII.GetBytes(id), ticks: 0);
        document.ImportHistory(Propose(writer.Complete()), older, _rule);
    }

    // Usually one field of several changes.
    private string Body(string? previous)
    {
        string[] fields =
            previous is not null && _random.Next(5) > 0
                ? previous.Split(',')
                : [.. Enumerable.Range(0, _random.Next(1, 12)).Select(n => $"\"f{n}\":\"{Text()}\"")];
        int changed = _random.Next(fields.Length);
        fields[changed] = $"\"f{changed}\":\"{Text()}\"";
        return string.Join(',', fields);
    }

    private string Text() =>
        _random.Next(150) == 0
            ? new string((char)('a' + _random.Next(26)), 70_000) + _random.Next()
            : Convert.ToBase64String(BitConverter.GetBytes(_random.NextInt64())) + new string('x', _random.Next(200));

    private void RemoveSome(string id, ModelRevisions document)
    {
        var all = document.All().ToArray();
        if (_random.Next(3) == 0)
        {
            bool includesForced = _random.Next(2) == 0;
            Act(id, RevisionAction.Enforce, includesForced: includesForced);
            long excess =
                _rule is null ? long.MaxValue
                : _rule.IsDisabled ? 0
                : _rule.PurgesOnDelete && document.Body is null ? long.MaxValue
                : _rule.MinimumToKeep is { } keep ? Math.Max(0, all.Length - keep)
                : 0;
            foreach (var revision in all.Where((_, i) => i < excess))
            {
                if (includesForced || !revision.IsForced)
                {
                    document.Remove(revision.Etag);
                }
            }

            return;
        }

        long[] removed = [.. all.Where(_ => _random.Next(3) == 0).Select(static revision => revision.Etag)];
        if (removed.Length > 0)
        {
            Act(id, RevisionAction.Delete, etags: removed, includesForced: true);
            Array.ForEach(removed, document.Remove);
        }
    }

    private long Act(string id, RevisionAction action, long etag = 0, bool includesForced = false, params long[] etags)
    {
        byte[] named = new byte[etags.Length * sizeof(long)];
        Buffer.BlockCopy(etags, 0, named, 0, named.Length);
        using var writer = new BatchWriter(CommandKind.Batch, 1);
        writer.Revision(
            Encoding.ASCII.GetBytes(id),
            new RevisionCommand
            {
                Action = action,
                Etag = etag,
                IncludesForced = includesForced,
                ToTicks = long.MaxValue,
                Etags = named,
            }
        );
        return Propose(writer.Complete());
    }

    private long Propose(CommandBuffer command)
    {
        var outcome = _node.Propose(command);
        _node.Commit();
        Assert.True(outcome.IsCompleted);
        Assert.Null(outcome.Result.Rejection);
        return outcome.Result[0].Etag;
    }

    private static string Read(SteppedNode node)
    {
        Assert.True(node.Core.Databases.TryGet("db", out var database));
        using var reader = database.OpenReader();
        using var revisions = new RevisionReader(reader);
        var text = new StringBuilder();
        long total = 0;
        foreach (string id in Ids)
        {
            bool exists = reader.TryGetDocument(Encoding.ASCII.GetBytes(id), out var document);
            string live = exists ? Shown(Encoding.ASCII.GetString(document.View.Body), TicksOf(document.View)) : "-";
            document.Dispose();
            text.Append(id).Append('=').Append(live).Append(':');
            if (revisions.TrySelect(Encoding.ASCII.GetBytes(id)))
            {
                total += revisions.Count;
                var found = new List<string>();
                while (revisions.MoveNext())
                {
                    found.Add($"{revisions.Etag}={ShownOf(revisions)}");
                }

                Assert.Equal(revisions.Count, found.Count);
                CheckAlone(reader, found);
                text.AppendJoin(',', found);
            }

            text.Append(' ');
        }

        Assert.Equal(total, reader.ReadStatistics().Revisions);
        return text.ToString();
    }

    // Each revision is also found by its etag alone.
    private static void CheckAlone(in Rookery.Documents.Databases.DatabaseReader reader, List<string> found)
    {
        using var alone = new RevisionReader(reader);
        foreach (string revision in found.Where(static (_, i) => i % 3 == 0))
        {
            string[] parts = revision.Split('=', 2);
            Assert.True(alone.TryFind(long.Parse(parts[0], System.Globalization.CultureInfo.InvariantCulture)));
            Assert.Equal(parts[1], ShownOf(alone));
        }
    }

    private static string ShownOf(RevisionReader revision) =>
        revision.IsDeletion ? "-" : Shown(Encoding.ASCII.GetString(revision.View.Body), TicksOf(revision.View));

    // The time of a version that a dump gave it; 0 for the others.
    private static long TicksOf(in DocumentView view) => view.LastModifiedTicks < Now ? view.LastModifiedTicks : 0;

    private static string Shown(string? body, long ticks) => body is null ? "-" : $"{Digest(body)}@{ticks}";

    private static string Describe(SortedDictionary<string, ModelRevisions> model)
    {
        var text = new StringBuilder();
        foreach (string id in Ids)
        {
            var document = model.GetValueOrDefault(id) ?? new ModelRevisions();
            text.Append(id).Append('=').Append(Shown(document.Body, document.Ticks)).Append(':');
            text.AppendJoin(',', document.All().Reverse().Select(row => $"{row.Etag}={Shown(row.Body, row.Ticks)}"));
            text.Append(' ');
        }

        return text.ToString();
    }

    private static string Digest(string body) =>
        body.Length < 24 ? body : $"{body.Length}/{Rookery.Platform.Checksum.Of(Encoding.ASCII.GetBytes(body))}";

    /// <summary>The expected documents and revisions after a disk operation.</summary>
    internal sealed record State(int Operation, string Text);
}

/// <summary>The expected revisions of one document, oldest first.</summary>
internal sealed class ModelRevisions
{
    private bool _isForced; // whether the revision that the document itself is was forced

    public List<(long Etag, string? Body, bool IsForced, long Ticks)> Rows { get; } = [];

    /// <summary>The document's body; null if it does not exist.</summary>
    public string? Body { get; private set; }

    /// <summary>Etag of the document's version.</summary>
    public long Etag { get; private set; }

    /// <summary>Whether that version is a revision.</summary>
    public bool IsRevision { get; private set; }

    /// <summary>The time of that version if a dump gave it; otherwise 0.</summary>
    public long Ticks { get; private set; }

    public IEnumerable<(long Etag, string? Body, bool IsForced, long Ticks)> All() =>
        IsRevision ? Rows.Append((Etag, Body, _isForced, Ticks)) : Rows;

    public void Put(long etag, string body, RevisionRule? rule, bool forces)
    {
        bool creates = rule is { Creates: true };
        bool existed = Body is not null;
        if (existed && (IsRevision || forces))
        {
            Rows.Add((Etag, Body, IsRevision ? _isForced : forces, Ticks));
        }

        (Body, Etag, Ticks) = (body, etag, 0);
        IsRevision = creates;
        _isForced = false;
        Trim(rule);
    }

    public void Force(long etag, RevisionRule? rule)
    {
        if (IsRevision)
        {
            return;
        }

        (Etag, IsRevision, Ticks) = (etag, true, 0);
        _isForced = rule is not { Creates: true };
        Trim(rule);
    }

    public void Delete(long etag, RevisionRule? rule)
    {
        if (Body is null)
        {
            return;
        }

        bool creates = rule is { Creates: true };
        if (rule is { IsDisabled: false, PurgesOnDelete: true })
        {
            Rows.Clear();
        }
        else if (IsRevision || Rows.Count > 0 || creates)
        {
            if (IsRevision || creates)
            {
                Rows.Add((Etag, Body, IsRevision && _isForced, Ticks));
            }

            Rows.Add((etag, null, false, 0));
        }

        (Body, IsRevision) = (null, false);
        Trim(rule);
    }

    /// <summary>Adds revisions of a dump, whose command ends with the document's restatement.</summary>
    public void Import(long lastEtag, List<(string? Body, bool IsForced)> revisions)
    {
        for (int i = 0; i < revisions.Count; i++)
        {
            Rows.Add((lastEtag - revisions.Count + i, revisions[i].Body, revisions[i].IsForced, 0));
        }

        Etag = Body is null ? Etag : lastEtag;
    }

    /// <summary>Stores the document of a dump, unless it is there with this time.</summary>
    public void ImportDocument(long etag, string body, long ticks, RevisionRule? rule)
    {
        if (!string.Equals(Body, body, StringComparison.Ordinal) || Ticks != ticks)
        {
            Put(etag, body, rule, forces: false);
            Ticks = ticks;
        }
    }

    /// <summary>Adds older revisions of a dump, then the document's version, which becomes one of them.</summary>
    public void ImportHistory(long lastEtag, List<(string Body, long Ticks)> older, RevisionRule? rule)
    {
        for (int i = 0; i < older.Count; i++)
        {
            Rows.Add((lastEtag - older.Count - 1 + i, older[i].Body, false, older[i].Ticks));
        }

        if (!IsRevision)
        {
            (IsRevision, _isForced) = (true, false);
            Trim(rule);
        }

        Etag = lastEtag;
    }

    public void Remove(long etag)
    {
        Rows.RemoveAll(row => row.Etag == etag);
        IsRevision &= Etag != etag;
    }

    private void Trim(RevisionRule? rule)
    {
        if (rule is not { IsDisabled: false, MinimumToKeep: { } keep })
        {
            return;
        }

        long excess = Math.Min(All().Count() - keep, rule.MaximumDeletes ?? long.MaxValue);
        Rows.RemoveRange(0, (int)Math.Clamp(excess, 0, Rows.Count));
    }
}
