using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Reads the rows that apply needs, besides the document's own, to store or delete documents: the references to the
/// contents of attachments, the revisions with their state, and the counters whose values a revision contains. Every
/// path that may store or delete a document calls it before it proposes its command: damage found in apply stops the
/// node. One object for each command.
/// </summary>
/// <param name="snapshot">The rows.</param>
/// <param name="database">The database's number.</param>
/// <param name="known">The database; null if it was deleted, and apply refuses the command.</param>
/// <param name="nowTicks">The current time, in UTC ticks.</param>
internal struct ChangeCheck(Snapshot snapshot, uint database, Database? known, long nowTicks)
{
    // Reads at least this many of the oldest revisions: a queued command may lower the limits of the configuration.
    private const int LeastRevisions = 64;

    private readonly Snapshot _snapshot = snapshot;
    private readonly RevisionSource _source = new(snapshot, database);
    private readonly bool _mayHaveRevisions = known is { MayHaveRevisions: true };
    private readonly bool _hasAttachments = known is { HasAttachments: true };
    private readonly RevisionsConfiguration? _configuration = known?.Revisions;

    // What apply charges. Beyond the budget of a command nothing is read, because apply refuses the command.
    private long _copiedBytes;
    private long _deletesLeft = RevisionRows.MaxDeletesPerEntry;
    private Dictionary<string, long>? _imported; // numbers of the revisions of dumps, by lower-cased ids

    /// <summary>The current time, in UTC ticks.</summary>
    public readonly long NowTicks => nowTicks;

    private readonly bool IsBeyondBudget => _copiedBytes > PatchBudget.CopiedBytesPerCommand;

    /// <summary>Checks an operation of a batch, except an operation on a counter.</summary>
    /// <exception cref="DamagedException">A row is damaged, so the operation could not be applied.</exception>
    public void Run(ReadOnlySpan<byte> lowerId, in Operation operation)
    {
        if (Run(lowerId, operation, out var row) == true)
        {
            row.Dispose();
        }
    }

    /// <summary>
    /// Checks an operation like <see cref="Run(ReadOnlySpan{byte}, in Operation)"/>, and returns the document if the
    /// check has looked it up, because a second look-up would cost as much.
    /// </summary>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="operation">The operation.</param>
    /// <param name="row">The document, which the caller disposes.</param>
    /// <returns>Whether the document exists; null if <paramref name="row"/> does not tell.</returns>
    /// <exception cref="DamagedException">A row is damaged, so the operation could not be applied.</exception>
    public bool? Run(ReadOnlySpan<byte> lowerId, in Operation operation, out Row row)
    {
        bool isForced = operation.ForcesRevision;
        row = default;
        switch (operation.Kind)
        {
            case OperationKind.Put:
                var put = new Change
                {
                    IsForced = isForced,
                    Rule = RuleOf(operation.Collection),
                    HasRule = true,
                };
                return Check(lowerId, put, out row);
            case OperationKind.Delete:
                RunForDelete(lowerId);
                break;
            case OperationKind.AttachmentPut or OperationKind.AttachmentCopy or OperationKind.AttachmentDelete:
                if (operation.Kind == OperationKind.AttachmentPut)
                {
                    ContentRows.Check(_snapshot, database, operation.Attachment.Hash);
                }
                else if (operation.Kind == OperationKind.AttachmentCopy)
                {
                    CheckCopied(operation.Copy);
                }

                Check(lowerId, new Change { Attachment = operation.Attachment.Name });
                break;
            case OperationKind.Revision:
                RunForRevisions(lowerId, operation.Revision);
                break;
            case OperationKind.Version:
                RunForVersion(lowerId, operation);
                break;
            default:
                var patch = new Change { IsForced = isForced, IsPatch = operation.Kind == OperationKind.Patch };
                return Check(lowerId, patch, out row);
        }

        return null;
    }

    /// <summary>Checks that a document can be stored again in its collection.</summary>
    /// <exception cref="DamagedException">A row is damaged, so the document could not be stored.</exception>
    public void RunForStore(ReadOnlySpan<byte> lowerId) => Check(lowerId, default);

    /// <summary>Checks that a document can be deleted.</summary>
    /// <exception cref="DamagedException">A row is damaged, so the document could not be deleted.</exception>
    public void RunForDelete(ReadOnlySpan<byte> lowerId) => Check(lowerId, new Change { IsDelete = true });

    /// <summary>Checks that a document can expire.</summary>
    /// <exception cref="DamagedException">A row is damaged, so the document could not be deleted.</exception>
    public void RunForExpiry(ReadOnlySpan<byte> lowerId)
    {
        _copiedBytes = 0; // apply charges nothing
        Check(lowerId, new Change { IsDelete = true, IsExpiry = true });
    }

    /// <summary>
    /// Checks the ids that apply may complete for an operation: throws if damage is known in their revisions.
    /// </summary>
    /// <param name="from">The first key of a document in the range.</param>
    /// <param name="toExclusive">The first key of a document after the range.</param>
    public readonly void RunForRange(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive)
    {
        if (_mayHaveRevisions)
        {
            Span<byte> first = stackalloc byte[Key.MaxBytes];
            Span<byte> after = stackalloc byte[Key.MaxBytes];
            foreach (byte table in (ReadOnlySpan<byte>)[Table.RevisionStates, Table.Revisions])
            {
                _snapshot.ThrowIfDamaged(
                    Key.WriteText(first, database, table, Key.TextOf(from)),
                    Key.WriteText(after, database, table, Key.TextOf(toExclusive))
                );
            }
        }
    }

    // Checks the list with the attachment that is copied, and the references to its content.
    private readonly void CheckCopied(scoped in AttachmentCopyCommand copy)
    {
        Span<byte> lowerId = stackalloc byte[Key.MaxBytes];
        int length = copy.Source.WriteLowerName(lowerId);
        if (!_source.TryGetDocument(lowerId[..length], out var row))
        {
            return;
        }

        using var document = new Document(row);
        if (AttachmentList.TryFind(document.Head.Attachments, copy.SourceName, out var source))
        {
            ContentRows.Check(_snapshot, database, source.Hash);
        }
    }

    private readonly RevisionRule? RuleOf(ReadOnlySpan<byte> collection) => _configuration?.Find(collection);

    private void Check(ReadOnlySpan<byte> lowerId, scoped in Change change)
    {
        if (Check(lowerId, change, out var row) == true)
        {
            row.Dispose();
        }
    }

    // Returns whether the document exists; null if the caller must look it up, because it was not looked up here or is
    // large.
    private bool? Check(ReadOnlySpan<byte> lowerId, scoped in Change change, out Row row)
    {
        bool mayRevise = change.IsForced || _mayHaveRevisions;
        bool mayRelease = change.IsDelete && _hasAttachments;
        if (!mayRevise && !mayRelease && change.Attachment.IsEmpty)
        {
            row = default;
            return null;
        }

        if (!_source.TryGetDocument(lowerId, out row))
        {
            if (mayRevise && !change.IsDelete)
            {
                CheckRevisions(lowerId, _source.ReadState(lowerId), change.Rule, purged: 0, change.Imported);
            }

            return false;
        }

        var document = new Document(row);
        bool isReturned = false;
        try
        {
            CheckExisting(lowerId, change, document, row, mayRevise);
            isReturned = !row.IsLarge; // a large document has buffers too
            return isReturned ? true : null;
        }
        finally
        {
            if (!isReturned)
            {
                document.Dispose();
            }
        }
    }

    private void CheckExisting(
        ReadOnlySpan<byte> lowerId,
        scoped in Change change,
        in Document document,
        in Row row,
        bool mayRevise
    )
    {
        var head = document.Head;
        if (mayRevise)
        {
            var rule = change.HasRule ? change.Rule : RuleOf(head.Collection);
            var state = head.Revisions.IsEmpty ? default : _source.ReadState(lowerId);
            bool creates = change.IsForced || (change.IsPatch ? _configuration is not null : rule is { Creates: true });
            bool isPurged = change.IsDelete && rule is { IsDisabled: false, PurgesOnDelete: true };
            long purged =
                !isPurged ? 0
                : change.IsExpiry ? Math.Min(state.Rows, RevisionRows.MaxDeletesPerEntry)
                : state.Rows;
            CheckRevisions(lowerId, state, rule, purged, change.Imported);
            if (creates)
            {
                CheckCounters(lowerId, head.Counters);
            }

            if (state != default || change.IsForced || (change.IsDelete && creates))
            {
                row.ReadThrough();
                ContentRows.CheckAll(_snapshot, database, head.Attachments);
            }
            else if (creates)
            {
                // This version becomes no revision, but the next operation or command in the queue may keep the new
                // one, which has the same attachments.
                ContentRows.CheckAll(_snapshot, database, head.Attachments);
            }
        }

        if (change.IsDelete || change.ReplacesAttachments)
        {
            ContentRows.CheckAll(_snapshot, database, head.Attachments);
        }
        else if (
            !change.Attachment.IsEmpty && AttachmentList.TryFind(head.Attachments, change.Attachment, out var replaced)
        )
        {
            ContentRows.Check(_snapshot, database, replaced.Hash);
        }
    }

    // Reads the oldest revisions, as many as apply may remove.
    private void CheckRevisions(
        ReadOnlySpan<byte> lowerId,
        RevisionState state,
        RevisionRule? rule,
        long purged,
        long imported
    )
    {
        if (state.Rows == 0)
        {
            return;
        }

        bool isPurged = purged != 0;
        long most = isPurged ? purged : MostRemoved(state, rule, imported);
        _copiedBytes += RevisionRows.BytesPerRemoval * purged;
        if (IsBeyondBudget)
        {
            return;
        }

        using var rows = _source.Seek(lowerId, state.FirstEtag, long.MaxValue);
        for (long i = 0; rows.MoveNext(); i++)
        {
            var revision = RevisionBytes.Peek(rows);
            bool isRemoved =
                i < most && (isPurged || rule?.MinimumAgeTicks is not { } age || revision.Ticks < nowTicks - age);
            if (!isRemoved && i >= LeastRevisions)
            {
                return; // after the first that stays, which apply reads too
            }

            _deletesLeft -= isRemoved && !isPurged ? 1 : 0;
            CheckContents(lowerId, revision);
        }
    }

    private readonly long MostRemoved(RevisionState state, RevisionRule? rule, long imported)
    {
        const int Added = 2; // by one change: the previous version, and the new one or that of the deletion
        if (rule is not { IsDisabled: false } || (rule.MinimumToKeep is null && rule.MinimumAgeTicks is null))
        {
            return 0;
        }

        long excess = rule.MinimumToKeep is { } keep ? state.Count + Added + imported - keep : state.Rows;
        return Math.Min(excess, Math.Min(rule.MaximumDeletes ?? long.MaxValue, _deletesLeft));
    }

    private readonly void CheckContents(ReadOnlySpan<byte> lowerId, in PeekedRevision revision)
    {
        if (revision.HasAttachments && _source.TryGetRevision(lowerId, revision.Etag, out var row))
        {
            using var bytes = RevisionBytes.OfHead(row);
            ContentRows.CheckAll(_snapshot, database, new RevisionRow(bytes.Span).Attachments);
        }
    }

    private void CheckCounters(ReadOnlySpan<byte> lowerId, scoped in DocumentCounters counters)
    {
        _copiedBytes += (long)RevisionRows.BytesPerCounter * counters.Count;
        if (counters.Count == 0 || IsBeyondBudget)
        {
            return;
        }

        var names = new CounterNames(counters.Names);
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        Span<byte> lowerName = stackalloc byte[CounterName.MaxBytes];
        while (names.MoveNext())
        {
            var counter = Key.WriteCounter(key, database, lowerId, lowerName[..names.WriteLower(lowerName)]);
            if (_snapshot.TryLoadAhead(counter, out var row))
            {
                row.Dispose();
            }
        }
    }

    private void RunForRevisions(ReadOnlySpan<byte> lowerId, scoped in RevisionCommand command)
    {
        switch (command.Action)
        {
            case RevisionAction.Force:
                Check(lowerId, new Change { IsForced = true });
                break;
            case RevisionAction.Revert when !IsBeyondBudget:
                CheckReverted(lowerId, command.Etag);
                break;
            case RevisionAction.Delete or RevisionAction.Enforce:
                CheckRemoved(lowerId, command);
                break;
            default:
                break;
        }
    }

    private void RunForVersion(ReadOnlySpan<byte> lowerId, in Operation operation)
    {
        var version = operation.Version;
        if (version.Kind == VersionKind.Document)
        {
            Check(lowerId, new Change { Rule = RuleOf(operation.Collection), HasRule = true });
            return;
        }

        _imported ??= new(StringComparer.Ordinal);
        string key = Encoding.Latin1.GetString(lowerId); // equal only for equal bytes
        long imported = _imported.GetValueOrDefault(key);
        if (version.Kind == VersionKind.Restated)
        {
            // This check also covers the revisions of the document that precede it in the command.
            Check(lowerId, new Change { IsForced = true, Imported = imported });
            return;
        }

        _imported[key] = imported + 1;
        ContentRows.CheckAll(_snapshot, database, version.Attachments);
        var state = _source.ReadState(lowerId);
        if (state.Rows == 0 || IsBeyondBudget)
        {
            return;
        }

        _ = VersionOperations.CountRows(_source, lowerId, state, version);
        // Apply stores the newest row whole, once for all revisions of the command.
        if (state.Depth > 0 && imported == 0)
        {
            using var decoder = new RevisionDecoder();
            decoder.TryRead(_source, lowerId, VersionOperations.NewestRowOf(_source, lowerId, state).Etag);
            _copiedBytes += decoder.CopiedBytes;
        }
    }

    private void CheckReverted(ReadOnlySpan<byte> lowerId, long etag)
    {
        using var decoder = new RevisionDecoder();
        var change = new Change { ReplacesAttachments = true };
        if (_source.ReadState(lowerId).Rows > 0 && decoder.TryRead(_source, lowerId, etag))
        {
            ContentRows.CheckAll(_snapshot, database, decoder.View.Attachments);
            _copiedBytes += decoder.CopiedBytes;
            change = new Change
            {
                ReplacesAttachments = true,
                Rule = RuleOf(decoder.View.Collection),
                HasRule = true,
            };
        }

        Check(lowerId, change);
    }

    // Reads the revisions that are removed, and those that must be stored whole because they lose the base of their
    // difference.
    private void CheckRemoved(ReadOnlySpan<byte> lowerId, scoped in RevisionCommand command)
    {
        var state = _source.ReadState(lowerId);
        if (state.Count == 0 || IsBeyondBudget)
        {
            return;
        }

        using var document = _source.TryGetDocument(lowerId, out var row) ? new Document(row) : default;
        using var removal = new RevisionRemoval();
        var rule =
            command.Action == RevisionAction.Enforce
                ? removal.FindRule(_source, lowerId, document, _configuration)
                : null;
        removal.Choose(
            _source,
            lowerId,
            document,
            state,
            command,
            rule,
            new RemovalTime(nowTicks + TimeSpan.TicksPerMinute, LastUnsteadyTicks: 0), // later than apply
            RevisionRows.MaxDeletesPerEntry
        );
        _copiedBytes += RevisionRows.BytesPerRemoval * (long)removal.Removed;
        for (int i = 0; i < removal.Revisions.Count && !IsBeyondBudget; i++)
        {
            if (removal.Revisions[i].IsRemoved)
            {
                CheckContents(lowerId, removal.Revisions[i]);
            }
            else if (removal.LosesBase(i))
            {
                long copiedBefore = removal.Decoder.CopiedBytes;
                removal.Decoder.Reset();
                removal.Decoder.TryRead(_source, lowerId, removal.Revisions[i].Etag);
                _copiedBytes += removal.Decoder.CopiedBytes - copiedBefore;
            }
        }
    }

    /// <summary>What an operation does with a document.</summary>
    private readonly ref struct Change
    {
        /// <summary>Whether the document is deleted, and not stored.</summary>
        public bool IsDelete { get; init; }

        /// <summary>Whether the document expires, so that not all of very many revisions are purged at once.</summary>
        public bool IsExpiry { get; init; }

        /// <summary>Whether the new collection is not known before the patch is applied.</summary>
        public bool IsPatch { get; init; }

        /// <summary>Whether a revision is created without regard to the configuration.</summary>
        public bool IsForced { get; init; }

        /// <summary>Whether the document loses all of its attachments.</summary>
        public bool ReplacesAttachments { get; init; }

        /// <summary>Number of the document's revisions that the command imports before.</summary>
        public long Imported { get; init; }

        /// <summary>Name of the attachment that is replaced or removed; empty for none.</summary>
        public ReadOnlySpan<byte> Attachment { get; init; }

        /// <summary>Whether <see cref="Rule"/> is that of the new version; otherwise the collection stays.</summary>
        public bool HasRule { get; init; }

        /// <summary>The rule of the new version's collection; null for none.</summary>
        public RevisionRule? Rule { get; init; }
    }
}
