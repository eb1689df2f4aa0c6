using System.Text;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Reads the documents of a BatchPATCH command, one patch for many: <c>[{"Id":…,"ChangeVector":…}]</c>.
/// </summary>
internal sealed class PatchedIds
{
    private readonly PooledBytes _bytes = new();
    private readonly List<(Range Id, Range ChangeVector, bool HasChangeVector)> _documents = [];

    /// <summary>Whether the command has the member Ids.</summary>
    public bool IsRead { get; private set; }

    /// <summary>Number of documents.</summary>
    public int Count => _documents.Count;

    /// <summary>Why an element was refused; the default value if the scanner has the error.</summary>
    public InputError Refusal { get; private set; }

    /// <summary>Forgets the documents.</summary>
    public void Clear()
    {
        _bytes.Clear();
        _documents.Clear();
        IsRead = false;
        Refusal = default;
    }

    /// <summary>Releases the buffer.</summary>
    public void Release() => _bytes.Release();

    /// <summary>Adds the patch of each document to a batch, until the batch is longer than it may be.</summary>
    public void AddTo(BatchWriter writer, ReadOnlySpan<byte> program, bool returnsDocument, int maxBatchBytes)
    {
        foreach (var (id, vector, hasVector) in _documents)
        {
            if (writer.Length > maxBatchBytes)
            {
                return;
            }

            writer.Patch(
                _bytes.Written[id],
                hasVector ? ExpectedChangeVector.MustEqual(_bytes.Written[vector]) : ExpectedChangeVector.None,
                program,
                returnsDocument,
                skipsOnMismatch: false
            );
        }
    }

    /// <summary>
    /// Reads the value of Ids. Refuses more documents than the batch has room for while it reads them: a list of all
    /// that fit into a body could take several times the memory of the body.
    /// </summary>
    /// <param name="scanner">The scanner of the body.</param>
    /// <param name="writer">The batch.</param>
    /// <param name="maxBatchBytes">Maximum length of the batch.</param>
    public bool TryRead(scoped ref JsonScanner scanner, BatchWriter writer, int maxBatchBytes)
    {
        int max = DocumentLimits.BatchCommands(maxBatchBytes);
        Clear();
        IsRead = true;
        if (!scanner.TryTake((byte)'['))
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextElement(ref first))
        {
            if (!TryReadDocument(ref scanner))
            {
                return false;
            }

            if (writer.Count + Count > max)
            {
                string what = $"The batch holds more than {max} commands, where each document of Ids counts as one";
                return Refuse(scanner, scanner.Position, what, InputErrorCode.BatchTooLarge, "Send several batches");
            }
        }

        return scanner.Error == InputErrorCode.None;
    }

    private bool TryReadDocument(scoped ref JsonScanner scanner)
    {
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        Range id = default,
            vector = default;
        bool hasVector = false;
        bool first = true;
        while (scanner.TryNextMember(ref first, out var name))
        {
            var member = scanner.Text(name);
            bool isNull = scanner.Peek() == (byte)'n';
            bool isRead =
                isNull ? scanner.TryTakeLiteral("null"u8)
                : member.SequenceEqual("Id"u8) ? TryReadText(ref scanner, out id)
                : member.SequenceEqual("ChangeVector"u8) ? hasVector = TryReadText(ref scanner, out vector)
                : Refuse(scanner, start, $"The member '{Encoding.UTF8.GetString(member)}' of Ids is not supported");
            if (!isRead)
            {
                return false;
            }
        }

        if (scanner.Error != InputErrorCode.None)
        {
            return false;
        }

        if (!DocumentId.TryValidate(_bytes.Written[id], out var problem))
        {
            return Refuse(scanner, start, problem.What, problem.Code, problem.Advice);
        }

        _documents.Add((id, vector, hasVector));
        return true;
    }

    private bool TryReadText(scoped ref JsonScanner scanner, out Range range)
    {
        int start = _bytes.Length;
        bool isRead = scanner.TryReadString(out var slice);
        if (isRead)
        {
            _bytes.Append(scanner.Text(slice));
        }

        range = start.._bytes.Length;
        return isRead;
    }

    private bool Refuse(
        JsonScanner scanner,
        int at,
        string what,
        InputErrorCode code = InputErrorCode.NotSupported,
        string advice = "Send {\"Id\":…,\"ChangeVector\":…}"
    )
    {
        Refusal = InputErrors.InJson(code, scanner.Json, at, what, advice);
        return false;
    }
}
