using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Running;

namespace Rookery.Documents.Patching;

/// <summary>
/// Applies patches to stored documents. Deterministic: it uses no clock, randomness or culture. One thread at a time.
/// </summary>
public sealed class PatchEvaluator : IDisposable
{
    /// <summary>
    /// Cost of one step of the script interpreter, as the number of bytes that could be copied in the same time.
    /// </summary>
    private const int BytesPerStep = 16;

    private readonly MergePatch _merge = new();
    private readonly ScriptMachine _scripts = new();
    private readonly JsonPatchMachine _jsonPatches = new();
    private readonly ScriptInterpreter _interpreter = new();
    private readonly MetadataReader _metadata = new();
    private readonly ObjectKeys _metadataKeys = new();
    private readonly PooledBytes _content = new();
    private readonly PooledBytes _merged = new();

    /// <summary>
    /// The new content (see <see cref="StoredDocument"/>) after Created or Patched; valid until the next call.
    /// </summary>
    public ReadOnlySpan<byte> Content => _content.Written;

    /// <summary>The collection in <see cref="Content"/>.</summary>
    public ReadOnlySpan<byte> Collection
    {
        get
        {
            int at = 0;
            return Varint.TryReadBytes(_content.Written, ref at, out ReadOnlySpan<byte> collection)
                ? collection
                : throw Broken();
        }
    }

    /// <summary>Time at which the new version expires, in UTC ticks; 0 if never.</summary>
    public long ExpiresAtTicks { get; private set; }

    /// <summary>
    /// Bytes that the patch copied. For an interpreted script: the bytes that could have been copied in the time of its
    /// run.
    /// </summary>
    internal long CopiedBytes { get; private set; }

    /// <summary>The log time of the patch's entry, in UTC ticks. It is the current time for scripts.</summary>
    internal long LogTicks { get; set; }

    /// <summary>Maximum bytes that the next interpreted script or JSON Patch may copy before it fails.</summary>
    internal long CopiedBytesLeft { get; set; } = long.MaxValue;

    /// <summary>
    /// Whether a failed patch is charged for the bytes that it copied. True for interpreted scripts and JSON Patches.
    /// False for scripts of simple operations, because all versions must account for those in the same way.
    /// </summary>
    internal bool IsChargedWhenFailed { get; private set; }

    /// <summary>The documents that the last patch stores or deletes.</summary>
    internal PatchWrites Writes { get; } = new();

    /// <summary>Why the patch failed; null if it did not.</summary>
    public string? Failure { get; private set; }

    /// <summary>Applies a patch to a document.</summary>
    public PatchStatus Apply(in PatchProgram patch, in DocumentView document)
    {
        Begin(document.ExpiresAtTicks);
        bool applied;
        switch (KindOf(patch))
        {
            case ProgramKind.Merge:
                applied = TryMerge(
                    MergeProgram.Read(patch.Bytes),
                    document.Collection,
                    document.Metadata,
                    document.Body
                );
                break;
            case ProgramKind.Compiled or ProgramKind.Reaching:
                BeginCompiled(
                    patch.Bytes[patch.HeadBytes..],
                    out ReadOnlySpan<byte> program,
                    out ReadOnlySpan<byte> arguments
                );
                _interpreter.AddDocument(document.ToScript());
                _interpreter.AddJson(arguments);
                applied = TryRunCompiled(program, document.Id, document.Collection, document.Metadata);
                break;
            case ProgramKind.JsonPatch:
                applied = TryRunJsonPatch(patch.Bytes[1..], document);
                break;
            default:
                int at = 1;
                ReadOnlySpan<byte> script = ReadBytes(patch.Bytes, ref at);
                applied = TryRun(script, document.Collection, document.Metadata, document.Body);
                break;
        }

        if (!applied)
        {
            return PatchStatus.Failed;
        }

        bool isSame = ExpiresAtTicks == document.ExpiresAtTicks && _content.Written.SequenceEqual(document.Content);
        return isSame ? PatchStatus.NotModified : PatchStatus.Patched;
    }

    /// <summary>Applies a patch whose document does not exist.</summary>
    public PatchStatus ApplyToMissing(in PatchProgram patch)
    {
        Begin(0);
        if (KindOf(patch) == ProgramKind.Merge)
        {
            MergeProgram program = MergeProgram.Read(patch.Bytes);
            if (!program.CreatesMissing)
            {
                return PatchStatus.DocumentDoesNotExist;
            }

            if (TryMerge(program, collection: default, metadata: default, body: default))
            {
                return PatchStatus.Created;
            }

            return PatchStatus.Failed;
        }

        if (patch.IsJsonPatch)
        {
            return PatchStatus.DocumentDoesNotExist;
        }

        // Skips the script for the case that the document exists.
        int at = patch.HeadBytes;
        ReadBytes(patch.Bytes, ref at);
        if (KindOf(patch) is ProgramKind.Compiled or ProgramKind.Reaching)
        {
            ReadBytes(patch.Bytes, ref at);
        }

        ReadOnlySpan<byte> partIfMissing = patch.Bytes[at..];
        switch (partIfMissing.IsEmpty ? throw Broken() : (MissingKind)partIfMissing[0])
        {
            case MissingKind.RunScript:
                return TryRun(partIfMissing[1..], collection: default, metadata: default, body: default)
                    ? PatchStatus.Created
                    : PatchStatus.Failed;
            case MissingKind.RunCompiled:
                BeginCompiled(partIfMissing[1..], out ReadOnlySpan<byte> program, out ReadOnlySpan<byte> arguments);
                _interpreter.AddNewDocument();
                _interpreter.AddJson(arguments);
                return TryRunCompiled(program, id: default, collection: default, metadata: default)
                    ? PatchStatus.Created
                    : PatchStatus.Failed;
            case MissingKind.StoreDocument:
                const int ContentOffset = 1 + sizeof(long);
                ExpiresAtTicks =
                    partIfMissing.Length >= ContentOffset
                        ? BinaryPrimitives.ReadInt64LittleEndian(partIfMissing[1..])
                        : throw Broken();
                _content.Append(partIfMissing[ContentOffset..]);
                return PatchStatus.Created;
            default:
                return PatchStatus.DocumentDoesNotExist;
        }
    }

    /// <summary>
    /// Releases the memory that the last patch of a large document used. <see cref="Content"/> is empty afterwards.
    /// </summary>
    internal void End()
    {
        _content.Clear();
        _merged.Clear();
        _scripts.Clear();
        _jsonPatches.Clear();
        _interpreter.Trim();
        Writes.Clear();
    }

    /// <summary>
    /// Lets the next patch load, store and delete other documents. <see cref="Writes"/> then contains its changes.
    /// </summary>
    /// <param name="source">The documents.</param>
    /// <param name="ownLowerId">The id of the patched document, lower-cased.</param>
    /// <param name="reservedEtags">Number of reserved etags.</param>
    internal void BeginWrites(IPatchSource source, ReadOnlySpan<byte> ownLowerId, int reservedEtags)
    {
        Writes.Source = source;
        Writes.Begin(ownLowerId, reservedEtags, LogTicks);
        _interpreter.Store = Writes;
    }

    /// <summary>Releases the buffers.</summary>
    public void Dispose()
    {
        _content.Release();
        _merged.Release();
        _scripts.Clear();
        _jsonPatches.Clear();
        _interpreter.Dispose();
        Writes.Dispose();
    }

    private void Begin(long expiresAtTicks)
    {
        _content.Clear();
        ExpiresAtTicks = expiresAtTicks;
        CopiedBytes = 0;
        IsChargedWhenFailed = false;
        Failure = null;
    }

    private bool TryMerge(
        MergeProgram program,
        ReadOnlySpan<byte> collection,
        ReadOnlySpan<byte> metadata,
        ReadOnlySpan<byte> body
    )
    {
        AppendBytes(program.CollectionChange == MemberChange.Unchanged ? collection : program.Collection);
        ExpiresAtTicks = program.ExpiryChange == MemberChange.Unchanged ? ExpiresAtTicks : program.ExpiresAtTicks;
        _merged.Clear();
        _merge.ApplyMembers(metadata, program.Metadata, _merged);
        AppendBytes(_merged.Written);
        _merged.Clear();
        _merged.Append((byte)'{');
        _merge.ApplyMembers(body, program.Body, _merged);
        _merged.Append((byte)'}');
        return TryAppendBody(_merged.Written);
    }

    private bool TryRun(
        ReadOnlySpan<byte> script,
        ReadOnlySpan<byte> collection,
        ReadOnlySpan<byte> metadata,
        ReadOnlySpan<byte> body
    )
    {
        bool ran = _scripts.TryRun(script, body);
        CopiedBytes = _scripts.CopiedBytes;
        if (!ran)
        {
            Failure = _scripts.Failure;
            return false;
        }

        AppendBytes(collection);
        AppendBytes(metadata);
        bool isWithinLimits = TryAppendBody(_scripts.Result);
        _scripts.Clear();
        return isWithinLimits;
    }

    private bool TryRunJsonPatch(ReadOnlySpan<byte> operations, in DocumentView document)
    {
        IsChargedWhenFailed = true;
        bool ran = _jsonPatches.TryRun(operations, document.Body, CopiedBytesLeft);
        CopiedBytes = _jsonPatches.CopiedBytes;
        if (!ran)
        {
            Failure = _jsonPatches.Failure;
            return false;
        }

        AppendBytes(document.Collection);
        AppendBytes(document.Metadata);
        return TryAppendBody(_jsonPatches.Result);
    }

    private long CopiedByRun => (_interpreter.Steps * BytesPerStep) + Writes.LoadedBytes;

    private void BeginCompiled(
        ReadOnlySpan<byte> unit,
        out ReadOnlySpan<byte> program,
        out ReadOnlySpan<byte> arguments
    )
    {
        int at = 0;
        program = ReadBytes(unit, ref at);
        arguments = ReadBytes(unit, ref at);
        IsChargedWhenFailed = true;
        _interpreter.Load(program);
        _interpreter.StepsLeft = CopiedBytesLeft / BytesPerStep;
        _interpreter.Begin();
        _interpreter.NowTicks = LogTicks;
    }

    private bool TryRunCompiled(
        ReadOnlySpan<byte> program,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> collection,
        ReadOnlySpan<byte> metadata
    )
    {
        ReadOnlySpan<byte> changedMetadata = default;
        bool replaces = _interpreter.TryRun(program) && Writes.ReplacesOwn;
        CopiedBytes = CopiedByRun;
        if (replaces)
        {
            _interpreter.TrimValues();
            return true; // one of the writes is the document
        }

        bool ran = _interpreter.Failure is null && _interpreter.TryWriteMetadata(0, out changedMetadata);
        if (ran && changedMetadata.IsEmpty)
        {
            AppendBytes(collection);
            AppendBytes(metadata);
        }
        else if (ran && !TryAppendMetadata(changedMetadata, id, collection))
        {
            CopiedBytes = CopiedByRun;
            return false;
        }

        ReadOnlySpan<byte> body = default;
        ran = ran && _interpreter.TryWriteParameter(0, out body);
        CopiedBytes = CopiedByRun;
        if (!ran)
        {
            Failure = _interpreter.Failure;
            return false;
        }

        _interpreter.TrimValues();
        return TryAppendBody(body);
    }

    /// <summary>
    /// Appends the collection and the metadata that a script left. As in a PUT, members that the server computes are
    /// dropped, and <c>@expires</c> is the expiry.
    /// </summary>
    private bool TryAppendMetadata(ReadOnlySpan<byte> json, ReadOnlySpan<byte> id, ReadOnlySpan<byte> collection)
    {
        _metadata.Clear();
        var scanner = new JsonScanner(json, position: 0, _metadataKeys);
        if (!_metadata.TryRead(ref scanner, MetadataUse.Document))
        {
            Failure =
                scanner.Error == InputErrorCode.None
                    ? $"the metadata that the script left is refused: {_metadata.Error.What}"
                    : $"the metadata that the script left is nested deeper than {JsonLimits.MaxDepth} levels";
            return false;
        }

        bool isNew = id.IsEmpty;
        if (!isNew && !_metadata.Id.IsEmpty && !_metadata.Id.SequenceEqual(id))
        {
            Failure = "a script cannot change the id of a document";
            return false;
        }

        bool hasCollection = _metadata.CollectionChange == MemberChange.Set;
        if (!isNew && hasCollection && !_metadata.Collection.SequenceEqual(collection))
        {
            Failure = "a script cannot change the collection of a document";
            return false;
        }

        AppendBytes(isNew && hasCollection ? _metadata.Collection : collection);
        AppendBytes(_metadata.Members(json));
        ExpiresAtTicks = _metadata.ExpiresAtTicks;
        return true;
    }

    /// <summary>Appends the members of an object, unless the document would exceed its limits.</summary>
    private bool TryAppendBody(ReadOnlySpan<byte> json)
    {
        if (_content.Length + json.Length > DocumentLimits.MaxDocumentBytes)
        {
            Failure = $"the patched document would be larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}";
        }
        else if (StoredJson.Depth(json, at: 0) > JsonLimits.MaxDepth)
        {
            Failure = $"the patched document would be nested deeper than {JsonLimits.MaxDepth} levels";
        }
        else
        {
            _content.Append(json[1..^1]);
        }

        return Failure is null;
    }

    private void AppendBytes(ReadOnlySpan<byte> bytes) =>
        _content.Advance(Varint.WriteBytes(_content.Reserve(Varint.MaxBytes32 + bytes.Length), bytes));

    private static ProgramKind KindOf(in PatchProgram patch) =>
        patch.Bytes.IsEmpty
        || (ProgramKind)patch.Bytes[0]
            is not (
                ProgramKind.Merge
                or ProgramKind.Script
                or ProgramKind.Compiled
                or ProgramKind.JsonPatch
                or ProgramKind.Reaching
            )
            ? throw Broken()
            : (ProgramKind)patch.Bytes[0];

    private static ReadOnlySpan<byte> ReadBytes(ReadOnlySpan<byte> source, scoped ref int at) =>
        Varint.TryReadBytes(source, ref at, out ReadOnlySpan<byte> bytes) ? bytes : throw Broken();

    private static CommandFormatException Broken() =>
        new(
            "A patch in a command does not decode although its checksum is right: a bug or a newer version "
                + "wrote it. Keep the data directory and report it."
        );
}
