using System.Text;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Reads the commands of a bulk_docs body, each with its members in any order, and adds them to a batch. The members
/// and their meaning are those of a derived class: of an ordinary batch, or of a cluster-wide transaction.
/// </summary>
/// <param name="parser">Parses the documents.</param>
/// <param name="writer">Encodes the batch.</param>
/// <param name="maxBatchBytes">Maximum length of the encoded batch.</param>
internal abstract class BatchBodyReader(DocumentParser parser, BatchWriter writer, int maxBatchBytes) : IDisposable
{
    // A script with a loop reserves the most etags that a script may use. The etags of one entry must fit into an int.
    private const int MaxReservedEtags = 1 << 20;

    private InputError _refusal;
    private int _commands; // commands read so far; one on counters can be several operations of the batch
    private bool _isInside; // whether a command is being read; an error then belongs to it

    /// <summary>Maximum length of the encoded batch.</summary>
    protected int MaxBatchBytes => maxBatchBytes;

    /// <summary>Parses the documents.</summary>
    protected DocumentParser Parser => parser;

    /// <summary>Encodes the batch.</summary>
    protected BatchWriter Writer => writer;

    /// <summary>The id of the command that is being read.</summary>
    protected PooledBytes Id { get; } = new();

    /// <summary>The command's change vector, if <see cref="HasChangeVector"/>.</summary>
    protected PooledBytes ChangeVector { get; } = new();

    /// <summary>The command's kind; the default value until its type was read.</summary>
    protected OperationKind Kind { get; set; }

    /// <summary>Whether the command states a change vector.</summary>
    protected bool HasChangeVector { get; set; }

    /// <summary>Whether the command has a document.</summary>
    protected bool HasDocument { get; set; }

    /// <summary>The expected change vector.</summary>
    protected ExpectedChangeVector Expected =>
        HasChangeVector ? ExpectedChangeVector.MustEqual(ChangeVector.Written) : ExpectedChangeVector.None;

    /// <summary>The name of the batch in messages, and the advice for a batch that is too large.</summary>
    protected abstract (string Name, string Advice) Wording { get; }

    /// <summary>Reads the whole body.</summary>
    public bool TryReadBody(scoped ref JsonScanner scanner)
    {
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        bool hasCommands = false;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            ReadOnlySpan<byte> member = scanner.Text(name);
            bool isRead;
            if (member.SequenceEqual("Commands"u8))
            {
                hasCommands = isRead = TryReadCommands(ref scanner);
            }
            else
            {
                isRead =
                    member.SequenceEqual("TransactionMode"u8) ? TryReadMode(ref scanner)
                    : scanner.Peek() == (byte)'n' ? scanner.TryTakeLiteral("null"u8)
                    : RefuseMember(
                        scanner,
                        Encoding.UTF8.GetString(member),
                        scanner.Position,
                        "the body of bulk_docs",
                        "Commands",
                        "TransactionMode"
                    );
            }

            if (!isRead)
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None
            && scanner.TryEnd()
            && (
                hasCommands
                || Refuse(
                    InputErrorCode.MissingMember,
                    scanner,
                    at: 0,
                    "The body has no Commands",
                    "Send {\"Commands\":[…]}"
                )
            );
    }

    /// <summary>Returns why the body was refused.</summary>
    public InputError Explain(JsonScanner scanner)
    {
        var error =
            _refusal.IsError ? _refusal
            : FindRefusalOfContent() is { IsError: true } refusal ? refusal
            : parser.Explain(scanner);
        return _isInside ? error with { Where = error.Where with { Element = _commands } } : error;
    }

    /// <inheritdoc/>
    public abstract void Dispose();

    /// <summary>Releases the buffers of the texts.</summary>
    protected void ReleaseTexts()
    {
        Id.Release();
        ChangeVector.Release();
    }

    /// <summary>Forgets the previous command.</summary>
    protected virtual void Clear()
    {
        Id.Clear();
        ChangeVector.Clear();
        Kind = default;
        HasChangeVector = false;
        HasDocument = false;
    }

    /// <summary>Reads the value of TransactionMode.</summary>
    protected abstract bool TryReadMode(scoped ref JsonScanner scanner);

    /// <summary>Reads the value of a member of a command.</summary>
    protected abstract bool TryReadMember(
        scoped ref JsonScanner scanner,
        JsonSlice name,
        scoped ref ParsedDocument document
    );

    /// <summary>Adds the command, whose members were read, to the batch.</summary>
    /// <param name="scanner">The scanner, after the command.</param>
    /// <param name="start">The command's position.</param>
    /// <param name="document">The command's document, if <see cref="HasDocument"/>.</param>
    protected abstract bool TryAdd(scoped ref JsonScanner scanner, int start, in ParsedDocument document);

    /// <summary>Returns why a reader of a member's value refused it, or no error.</summary>
    protected virtual InputError FindRefusalOfContent() => default;

    /// <summary>Reads a string.</summary>
    protected static bool TryReadText(scoped ref JsonScanner scanner, PooledBytes text)
    {
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        text.Append(scanner.Text(slice));
        return true;
    }

    /// <summary>Refuses a member that this version does not support.</summary>
    protected bool RefuseMember(
        JsonScanner scanner,
        string name,
        int at,
        string where,
        params ReadOnlySpan<string> known
    ) =>
        Refuse(
            InputErrorCode.NotSupported,
            scanner,
            at,
            $"The member '{name}' of {where} is not supported by this version",
            Spelling.FindSimilar(name, known) is { } meant ? $"Send '{meant}'" : "Leave it out"
        );

    /// <summary>Records why the body is refused. Always returns false.</summary>
    protected bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string what, string advice)
    {
        _refusal = InputErrors.InJson(code, scanner.Json, at, what, advice);
        return false;
    }

    private bool TryReadCommands(scoped ref JsonScanner scanner)
    {
        if (!scanner.TryTake((byte)'['))
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextElement(ref first))
        {
            if (!TryReadCommand(ref scanner))
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None;
    }

    private bool TryReadCommand(scoped ref JsonScanner scanner)
    {
        Clear();
        _isInside = true;
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        ParsedDocument document = default;
        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            if (!TryReadMember(ref scanner, name, ref document))
            {
                return false;
            }
        }

        if (
            scanner.Error != InputErrorCode.None
            || !TryAdd(ref scanner, start, document)
            || !IsWithinLimits(scanner, start)
        )
        {
            return false;
        }

        _isInside = false;
        _commands++;
        return true;
    }

    /// <summary>
    /// Checks the limits after each command. The length of the body does not bound the batch, because an encoded patch
    /// can be longer than its JSON.
    /// </summary>
    private bool IsWithinLimits(JsonScanner scanner, int start)
    {
        int max = DocumentLimits.BatchCommands(maxBatchBytes);
        string? excess =
            writer.Length > maxBatchBytes ? $"takes more than {Amount.Bytes(maxBatchBytes)}"
            : writer.ReservedEtags > MaxReservedEtags
                ? $"may put or delete more than {MaxReservedEtags} documents in scripts"
            : writer.Count > max ? $"holds more than {max} commands, where each operation on a counter counts as one"
            : null;
        return excess is null
            || Refuse(InputErrorCode.BatchTooLarge, scanner, start, $"The {Wording.Name} {excess}", Wording.Advice);
    }
}
