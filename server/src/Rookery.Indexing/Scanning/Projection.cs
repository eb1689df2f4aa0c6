using System.Buffers;
using System.Buffers.Text;
using System.Text;
using Rookery.Disk;
using Rookery.Documents.Json;
using Rookery.Indexing.Language;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Scanning;

/// <summary><c>select</c> of fields: writes the members of a result. Thread-safe.</summary>
internal sealed class Projection
{
    private const int MaxScoreBytes = 32;

    private readonly (byte[] Name, FieldWriter? Field, byte[]? Value, bool IsOfRow)[] members;

    /// <summary>The projection of a selection.</summary>
    /// <param name="items">What each result holds.</param>
    /// <param name="fields">Says where fields stand.</param>
    /// <param name="operands">Parameters filled in.</param>
    /// <exception cref="QueryException">A part is not supported, or two members have one name.</exception>
    public Projection(IReadOnlyList<SelectedField> items, FieldResolver fields, OperandValues operands)
    {
        var names = new HashSet<string>(StringComparer.Ordinal);
        members = [.. items.Select(item => (Quote(NameOf(item, names)), FieldOf(item, fields), ValueOf(item, operands), fields is not SelectedFields selected || selected.AreOfRow(item)))];
    }

    /// <summary>Writes the members of a result, without braces.</summary>
    /// <param name="document">The document, or the row of a group.</param>
    /// <param name="output">Where to.</param>
    public void Write(in QueriedDocument document, IBufferWriter<byte> output)
    {
        bool isBehind = false;
        foreach ((byte[] name, FieldWriter? field, byte[]? value, bool isOfRow) in members)
        {
            if (isBehind)
            {
                output.Write(","u8);
            }

            isBehind = true;
            output.Write(name);
            if (field is not null)
            {
                field.Write(isOfRow ? document : document.Whole, output);
            }
            else if (value is not null)
            {
                output.Write(value);
            }
            else
            {
                WriteScore(document.Score, output);
            }
        }
    }

    /// <summary>The name of a member: its alias, or how RavenDB names it.</summary>
    public static string NameOf(SelectedField item) => item.Alias ?? item.Source switch
    {
        SelectedReference { Field: PathReference path } => path.Path.ToString(),
        SelectedReference { Field: AggregateReference { Path: { } path } } => path.ToString(),
        SelectedReference { Field: AggregateReference } => "Count",
        SelectedReference { Field: GroupKeyReference } => "Key",
        SelectedReference { Field: IdReference } => "id()",
        SelectedReference { Field: ScoreReference } => "score()",
        SelectedOperand { Value: NumberOperand number } => number.Text,
        SelectedOperand { Value: TextOperand text } => text.Value,
        SelectedOperand { Value: ParameterOperand parameter } => parameter.Name,
        SelectedOperand { Value: BooleanOperand boolean } => boolean.Value ? "true" : "false",
        _ => "null",
    };

    /// <summary>Writes a score as JSON.</summary>
    public static void WriteScore(double score, IBufferWriter<byte> output)
    {
        bool isWritten = Utf8Formatter.TryFormat(score, output.GetSpan(MaxScoreBytes), out int written);
        Invariant.Holds(isWritten, "a double takes no more bytes");
        output.Advance(written);
    }

    private static string NameOf(SelectedField item, HashSet<string> names)
    {
        string name = NameOf(item);
        return names.Add(name) ? name : throw new QueryException(QueryFault.Invalid, $"Two selected members are named '{name}': give one another name with 'as'.", item.Position);
    }

    private static FieldWriter? FieldOf(SelectedField item, FieldResolver fields) => item.Source switch
    {
        SelectedReference { Field: ScoreReference } when fields is not GroupFields => null,
        SelectedReference reference => new FieldWriter(fields.Resolve(reference.Field), keepsPlaces: true),
        SelectedOperand => null,
        _ => throw new QueryException(QueryFault.NotSupported, $"'{item.Source.GetType().Name}' is not supported.", item.Position),
    };

    private static byte[]? ValueOf(SelectedField item, OperandValues operands) => item.Source is SelectedOperand value ? operands.Json(value.Value) : null;

    private static byte[] Quote(string name)
    {
        var output = new ArrayBufferWriter<byte>();
        DocumentWriter.WriteString(output, Encoding.UTF8.GetBytes(name));
        output.Write(":"u8);
        return output.WrittenSpan.ToArray();
    }
}
