using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Queries.Scanning;

/// <summary>
/// Compiles the parts of queries that run as JavaScript: <c>select { … }</c>, <c>select f(…)</c>, fields of loaded
/// documents, <c>update { … }</c>.
/// </summary>
public static class QueryScripts
{
    /// <summary>Compiles the script of a query's selection; returns null if it has none.</summary>
    /// <exception cref="QueryException">The script is refused.</exception>
    internal static SelectionScript? SelectionOf(Query query, QueryParameters parameters)
    {
        var call = query.Select as CallSelection;
        ScriptPart? expression = query.Select switch
        {
            ScriptSelection script => new ScriptPart("{" + script.Script.Text + "}", script.Script.Position - 1),
            CallSelection => new ScriptPart(call!.Function, call.Position),
            FieldSelection { Items.Count: > 0 } fields when query.Loads.Count > 0 => PartOf(
                query,
                fields,
                new OperandValues(parameters)
            ),
            _ => null,
        };
        if (expression is not { } part)
        {
            return null;
        }

        if (query.GroupBy.Count > 0)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "A script in the selection of groups is not supported by this version: select keys and aggregates.",
                part.Position
            );
        }

        var source = SourceOf(query) with
        {
            Definitions = [.. query.Loads.Select(load => new ScriptDefinition(load.Alias, PartOf(query, load)))],
        };
        var program = Compile(() =>
            call is null ? source.CompileSelection(part) : source.CompileCall(part, call.Arguments.Select(PartOf))
        );
        return new SelectionScript(program, parameters.ToJson(), part.Position);
    }

    /// <summary>
    /// Compiles a condition that calls declared functions. Its program returns an object if the condition holds,
    /// otherwise null.
    /// </summary>
    /// <param name="query">The query.</param>
    /// <param name="condition">The condition as JavaScript.</param>
    /// <param name="position">Its position in the query's text.</param>
    /// <exception cref="QueryException">The script is refused.</exception>
    internal static ScriptProgram ConditionOf(Query query, string condition, int position)
    {
        var program = Compile(() =>
            SourceOf(query).CompileSelection(new ScriptPart($"({condition}) ? {{}} : null", position))
        );
        RefuseOutsideQueries(program, position);
        return program;
    }

    /// <summary>Refuses a script that needs the answer of a query, for a subscription.</summary>
    /// <exception cref="QueryException">The script reads counters or includes something.</exception>
    internal static void RefuseOutsideQueries(ScriptProgram program, int position)
    {
        string? part =
            program.ReadsCounters ? "counter()"
            : program.IncludesDocuments ? "includes.document()"
            : program.IncludesCompareExchange ? "includes.cmpxchg()"
            : null;
        if (part is not null)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'{part}' in the script of a subscription is not supported by this version.",
                position
            );
        }
    }

    /// <summary>Compiles the script of a query's <c>update</c>.</summary>
    /// <param name="query">The query.</param>
    /// <param name="changesMetadata">See <see cref="QueryScript.CompileUpdate"/>.</param>
    /// <exception cref="QueryException">The script is refused.</exception>
    public static ScriptProgram UpdateOf(Query query, bool changesMetadata)
    {
        if (query.Loads.Count > 0)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'load' of a patch by query is not supported by this version: a patch sees one document.",
                query.Loads[0].Path.Position
            );
        }

        var update =
            query.Update
            ?? throw new QueryException(
                QueryFault.Invalid,
                "A patch by query needs 'update { … }' after its conditions.",
                query.Text.Length
            );
        return Compile(() =>
            SourceOf(query).CompileUpdate(new ScriptPart(update.Text, update.Position), changesMetadata)
        );
    }

    private static QueryScript SourceOf(Query query) =>
        new()
        {
            Alias = query.Source.Alias,
            Functions =
            [
                .. query.Functions.Select(static function => new ScriptDeclaration(
                    function.Name,
                    function.Parameters,
                    new ScriptPart(function.Body.Text, function.Body.Position)
                )),
            ],
        };

    private static ScriptProgram Compile(Func<ScriptProgram> compile)
    {
        try
        {
            return compile();
        }
        catch (ScriptException refusal)
        {
            throw new QueryException(
                refusal.Fault == ScriptFault.NotSupported ? QueryFault.NotSupported : QueryFault.Invalid,
                refusal.Message + ".",
                refusal.Position
            );
        }
    }

    /// <summary>
    /// Returns an argument as JavaScript. Values are written anew, because the escapes of RQL mean other characters in
    /// JavaScript. Paths and parameters have the same syntax.
    /// </summary>
    private static ScriptPart PartOf(CallArgument argument) =>
        new(LiteralOf(argument.Value) ?? argument.Written.Text, argument.Written.Position);

    /// <summary>Returns a call of <c>load</c>. With <c>as c[]</c>, the path holds one id or an array of ids.</summary>
    private static ScriptPart PartOf(Query query, LoadClause load)
    {
        string path = PathOf(query, load.Path);
        return new ScriptPart(
            load.IsMany ? $"load([].concat({path}).filter(id => id))" : $"load({path})",
            load.Path.Position
        );
    }

    private static ScriptPart PartOf(Query query, FieldSelection fields, OperandValues operands)
    {
        if (fields.IsDistinct)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'select distinct' of loaded documents is not supported by this version.",
                fields.Items[0].Position
            );
        }

        var members = fields.Items.Select(item => $"{Quote(Projection.NameOf(item))}:{ValueOf(query, item, operands)}");
        return new ScriptPart($"{{{string.Join(',', members)}}}", fields.Items[0].Position);
    }

    private static string ValueOf(Query query, SelectedField item, OperandValues operands)
    {
        switch (item.Source)
        {
            case SelectedReference { Field: PathReference field }:
                return PathOf(query, field.Path) + "??null";
            case SelectedReference { Field: IdReference }:
                return "id(this)";
            case SelectedOperand { Value: var value }:
                operands.ReadJson(value);
                return ValueOf(value);
            case SelectedCounter counter:
                operands.ReadText(counter.Name, "counter()");
                return $"counter({AliasOf(query, counter, item.Position) ?? "this"},{ValueOf(counter.Name)})";
            default:
                throw new QueryException(
                    QueryFault.NotSupported,
                    "This part of a selection is not supported beside 'load'.",
                    item.Position
                );
        }
    }

    private static string ValueOf(Operand value) =>
        value is ParameterOperand parameter ? $"args[{Quote(parameter.Name)}]" : LiteralOf(value) ?? "null";

    /// <summary>
    /// Returns the alias of the loaded document that has a selected counter; null for the queried document.
    /// </summary>
    /// <exception cref="QueryException">The document is neither.</exception>
    internal static string? AliasOf(Query query, SelectedCounter counter, int position) =>
        counter.Of is { } alias
        && !query.Loads.Any(load => !load.IsMany && string.Equals(load.Alias, alias, StringComparison.Ordinal))
            ? throw new QueryException(
                QueryFault.NotSupported,
                $"'counter({alias}, …)' is not supported by this version: a counter is that of the queried document, "
                    + "or of a document that 'load' names.",
                position
            )
            : counter.Of;

    /// <summary>Returns a value as JavaScript; null for a parameter, or if there is no value.</summary>
    private static string? LiteralOf(Operand? value) =>
        value switch
        {
            TextOperand text => Quote(text.Value),
            NumberOperand number => $"({number.Text})",
            BooleanOperand boolean => boolean.Value ? "true" : "false",
            NullOperand => "null",
            _ => null,
        };

    /// <summary>
    /// Returns a path as JavaScript, from the document or from a document that an earlier clause loads.
    /// </summary>
    private static string PathOf(Query query, FieldPath path)
    {
        var steps = path.Steps;
        var loaded = query.Loads.FirstOrDefault(load =>
            string.Equals(load.Alias, steps[0].Name, StringComparison.Ordinal) && load.Path.Position < path.Position
        );
        var text = new StringBuilder(loaded is null ? $"this[{Quote(steps[0].Name)}]" : loaded.Alias);
        int open = 0; // each step through an array opens a call of flatMap, which is closed at the end
        for (int step = 0; step < steps.Count; step++)
        {
            if (step > 0)
            {
                text.Append('[').Append(Quote(steps[step].Name)).Append(']');
            }

            if (steps[step].IsEach || (step == 0 && loaded is { IsMany: true }))
            {
                text.Append(CultureInfo.InvariantCulture, $".flatMap(e{step}=>e{step}");
                open++;
            }
        }

        return text.Append(')', open).ToString();
    }

    private static string Quote(string name) => $"\"{JavaScriptEncoder.UnsafeRelaxedJsonEscaping.Encode(name)}\"";
}
