using System.Buffers;
using System.Buffers.Text;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>The compiled <c>select</c> of fields: writes the members of a result. Thread-safe.</summary>
internal sealed class Projection
{
    private const int MaxScoreBytes = 32;

    // The clock is checked each time this many bytes were read.
    private const long StepBytes = 1024 * 1024;

    private readonly Member[] _members;

    /// <summary>Compiles a selection.</summary>
    /// <param name="items">The selected fields.</param>
    /// <param name="fields">Resolves fields.</param>
    /// <param name="operands">Resolves parameters.</param>
    /// <param name="behavior">Where fields are read from.</param>
    /// <exception cref="QueryException">A part is not supported, or two members have the same name.</exception>
    public Projection(
        IReadOnlyList<SelectedField> items,
        FieldResolver fields,
        OperandValues operands,
        ProjectionBehavior behavior
    )
    {
        var source = new ProjectionSource(fields, behavior);
        var names = new HashSet<string>(StringComparer.Ordinal);
        _members =
        [
            .. items
                .Where(source.IsSelected)
                .Select(item => new Member(
                    Quote(NameOf(item, names)),
                    FieldOf(item, fields),
                    ValueOf(item, operands),
                    CounterOf(item, operands),
                    source.ReadsFromRow(item),
                    source.OmitsIfMissing(item),
                    source.IsNeeded(item) ? NameOf(item) : null
                )),
        ];
    }

    /// <summary>Writes the members of a result, without braces.</summary>
    /// <param name="document">The document, or the row of a group.</param>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="limits">Checked during the work; null for no limit.</param>
    /// <param name="counters">Reads the selected counters; null if the selection has none.</param>
    /// <exception cref="QueryException">A required field is missing.</exception>
    public void Write(
        in QueriedDocument document,
        IBufferWriter<byte> output,
        IWorkLimits? limits,
        DatabaseReader? counters
    )
    {
        bool needsComma = false;
        long walked = 0;
        foreach (var member in _members)
        {
            var source = member.ReadsFromRow ? document : document.Whole;
            if (member.OmitsIfMissing && !member.Field!.IsIn(source))
            {
                continue;
            }

            if (member.Needed is { } needed && !member.Field!.IsIn(source))
            {
                string place = document.IsStored
                    ? $"the document '{Encoding.UTF8.GetString(document.View.Id)}'"
                    : "a row";
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'{needed}' is missing in {place}, which is an error by the request's " + $"ProjectionBehavior."
                );
            }

            output.Write(needsComma ? ","u8 : ""u8);
            needsComma = true;
            output.Write(member.Name);
            if (member.Field is { } field)
            {
                field.Write(source, output);
            }
            else if (member.Value is { } value)
            {
                output.Write(value);
            }
            else if (member.Counter is { } counter)
            {
                WriteCounter(counters!.Value.ReadCounter(document.View.Id, counter, out _), output);
            }
            else
            {
                WriteScore(document.Score, output);
            }

            walked += source.Members.Length;
            if (walked >= StepBytes)
            {
                walked = 0;
                limits?.CheckLimits();
            }
        }
    }

    /// <summary>Returns the name of a member: its alias, or the name that RavenDB gives it.</summary>
    public static string NameOf(SelectedField item) =>
        item.Alias
        ?? item.Source switch
        {
            SelectedReference { Field: PathReference path } => path.Path.ToString(),
            SelectedReference { Field: AggregateReference { Path: { } path } } => path.ToString(),
            SelectedReference { Field: AggregateReference } => "Count",
            SelectedReference { Field: GroupKeyReference } => "Key",
            SelectedReference { Field: IdReference } => "id()",
            SelectedReference { Field: ScoreReference } => "score()",
            SelectedCounter { Name: TextOperand counter } => counter.Value,
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

    private static void WriteCounter(long? value, IBufferWriter<byte> output)
    {
        if (value is not { } number)
        {
            output.Write("null"u8);
            return;
        }

        const int MaxNumberBytes = 20;
        bool isWritten = Utf8Formatter.TryFormat(number, output.GetSpan(MaxNumberBytes), out int written);
        Invariant.Holds(isWritten, "an integer takes no more bytes");
        output.Advance(written);
    }

    private static string NameOf(SelectedField item, HashSet<string> names)
    {
        string name = NameOf(item);
        if (item is { Alias: null, Source: SelectedCounter { Name: not TextOperand } })
        {
            throw new QueryException(
                QueryFault.Invalid,
                "The selected counter has no name in the results: name it with 'as'.",
                item.Position
            );
        }

        if (name is "@metadata")
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "A selected member named '@metadata' is not supported by this version, because a result has metadata "
                    + "of its own: give it another name with 'as'.",
                item.Position
            );
        }

        return names.Add(name)
            ? name
            : throw new QueryException(
                QueryFault.Invalid,
                $"Two selected members are named '{name}': give one another name with 'as'.",
                item.Position
            );
    }

    private static FieldWriter? FieldOf(SelectedField item, FieldResolver fields) =>
        item.Source switch
        {
            SelectedReference { Field: ScoreReference } when fields is not GroupFields => null,
            SelectedReference reference => new FieldWriter(fields.Resolve(reference.Field), keepsPlaces: true),
            SelectedOperand or SelectedCounter => null,
            _ => throw new QueryException(
                QueryFault.NotSupported,
                "What is selected here is not supported.",
                item.Position
            ),
        };

    private static byte[]? ValueOf(SelectedField item, OperandValues operands) =>
        item.Source is SelectedOperand value ? operands.ReadJson(value.Value) : null;

    private static byte[]? CounterOf(SelectedField item, OperandValues operands) =>
        item.Source is SelectedCounter counter ? operands.ReadText(counter.Name, "counter()") : null;

    private static byte[] Quote(string name)
    {
        var output = new ArrayBufferWriter<byte>();
        JsonText.WriteString(output, Encoding.UTF8.GetBytes(name));
        output.Write(":"u8);
        return output.WrittenSpan.ToArray();
    }

    /// <summary>A member of a result.</summary>
    /// <param name="Name">Its name as JSON, and a colon.</param>
    /// <param name="Field">Writes its value; null if the value is not a field's.</param>
    /// <param name="Value">Its value as JSON, if constant; otherwise null.</param>
    /// <param name="Counter">The name of the counter whose value it has; null if the value is no counter's.</param>
    /// <param name="ReadsFromRow">Whether it is read from the row stored in the index.</param>
    /// <param name="OmitsIfMissing">Whether the member is omitted if the field is missing.</param>
    /// <param name="Needed">The name of a required field, for the error; null if the field may be missing.</param>
    private sealed record Member(
        byte[] Name,
        FieldWriter? Field,
        byte[]? Value,
        byte[]? Counter,
        bool ReadsFromRow,
        bool OmitsIfMissing,
        string? Needed
    );
}
