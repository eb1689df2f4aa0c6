using System.Text.Json;
using Rookery.Platform;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Reads the options of a clause from a JSON object, which is a parameter or a text. Compares names without case.
/// </summary>
internal sealed class ClauseOptions
{
    private readonly Dictionary<string, JsonElement> _members = new(StringComparer.OrdinalIgnoreCase);
    private readonly SortedSet<string> _knownOptions = new(StringComparer.OrdinalIgnoreCase);
    private readonly string _clause;
    private readonly int _position;

    /// <summary>Reads options.</summary>
    /// <param name="operand">The object; null for no options.</param>
    /// <param name="clause">The name of the clause, for errors.</param>
    /// <param name="operands">Resolves parameters.</param>
    /// <exception cref="QueryException">The operand is not a JSON object.</exception>
    public ClauseOptions(Operand? operand, string clause, OperandValues operands)
    {
        _clause = clause;
        _position = operand?.Position ?? -1;
        if (operand is null || operand is NullOperand)
        {
            return;
        }

        byte[] json = operands.ReadJson(operand);
        if (json[0] == (byte)'n') // null
        {
            return;
        }

        try
        {
            using var document = JsonDocument.Parse(json[0] == (byte)'"' ? operands.ReadText(operand, clause) : json);
            foreach (var member in document.RootElement.EnumerateObject())
            {
                if (!_members.TryAdd(member.Name, member.Value.Clone()))
                {
                    throw new QueryException(
                        QueryFault.Invalid,
                        $"The option '{member.Name}' of '{clause}' is given twice.",
                        _position
                    );
                }

                RequireWholeTexts(member.Name, member.Value);
            }
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The options of '{clause}' are not a JSON object.",
                _position
            );
        }
    }

    /// <summary>
    /// Reads an option that is a whole number from 0; returns <paramref name="defaultValue"/> if it is missing.
    /// </summary>
    public long ReadCount(string name, long defaultValue)
    {
        if (Find(name) is not { } member)
        {
            return defaultValue;
        }

        if (member.ValueKind == JsonValueKind.Number && member.TryGetInt64(out long number) && number >= 0)
        {
            return number;
        }

        throw Wrong(name, "a whole number from 0");
    }

    /// <summary>
    /// Reads an option that is a number from 0 to <paramref name="max"/>; returns <paramref name="defaultValue"/> if it
    /// is missing.
    /// </summary>
    public double ReadNumber(string name, double defaultValue, float max = float.MaxValue)
    {
        if (Find(name) is not { } member)
        {
            return defaultValue;
        }

        if (member.ValueKind == JsonValueKind.Number && member.GetDouble() is >= 0 and var number && number <= max)
        {
            return number;
        }

        throw Wrong(name, max < float.MaxValue ? $"a number from 0 to {max}" : "a number from 0");
    }

    /// <summary>Reads an option that is true or false; returns false if it is missing.</summary>
    public bool ReadFlag(string name) =>
        Find(name) is { } member
        && (
            member.ValueKind is JsonValueKind.True or JsonValueKind.False
                ? member.GetBoolean()
                : throw Wrong(name, "true or false")
        );

    /// <summary>
    /// Reads an option that is a name of an enumeration, without case; returns <paramref name="defaultValue"/> if it is
    /// missing.
    /// </summary>
    public T ReadWord<T>(string name, T defaultValue)
        where T : struct, Enum
    {
        if (Find(name) is not { } member)
        {
            return defaultValue;
        }

        if (member.ValueKind == JsonValueKind.String && EnumName.TryParse(member.GetString(), out T word))
        {
            return word;
        }

        throw Wrong(name, "one of " + string.Join(", ", Enum.GetNames<T>()));
    }

    /// <summary>Reads an option that is a text; returns null if it is missing.</summary>
    public string? ReadText(string name)
    {
        if (Find(name) is not { } member)
        {
            return null;
        }

        if (member.ValueKind == JsonValueKind.String)
        {
            return member.GetString();
        }

        throw Wrong(name, "a text");
    }

    /// <summary>
    /// Reads an option that is a list of at most <paramref name="max"/> texts; returns null if it is missing.
    /// </summary>
    public string[]? ReadTexts(string name, int max = int.MaxValue)
    {
        if (Find(name) is not { } member)
        {
            return null;
        }

        if (
            member.ValueKind == JsonValueKind.Array
            && member.GetArrayLength() <= max
            && member.EnumerateArray().All(static item => item.ValueKind == JsonValueKind.String)
        )
        {
            return [.. member.EnumerateArray().Select(static item => item.GetString()!)];
        }

        throw Wrong(name, max < int.MaxValue ? $"a list of at most {max} texts" : "a list of texts");
    }

    /// <summary>Refuses options that were not read. Call it last.</summary>
    /// <exception cref="QueryException">A member is not an option of the clause.</exception>
    public void RefuseUnread()
    {
        if (_members.Keys.FirstOrDefault(name => !_knownOptions.Contains(name)) is { } unknown)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{unknown}' is not an option of '{_clause}', which takes {string.Join(", ", _knownOptions)}.",
                _position
            );
        }
    }

    /// <summary>
    /// Refuses half of a surrogate pair. JsonDocument accepts it and fails when the text is read. A parameter that is
    /// an object was checked before.
    /// </summary>
    private void RequireWholeTexts(string name, JsonElement value)
    {
        try
        {
            foreach (
                var text in value.ValueKind == JsonValueKind.Array ? value.EnumerateArray().AsEnumerable() : [value]
            )
            {
                _ = text.ValueKind == JsonValueKind.String ? text.GetString() : null;
            }
        }
        catch (InvalidOperationException)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The option '{name}' of '{_clause}' contains half of a surrogate pair, which is no character.",
                _position
            );
        }
    }

    private JsonElement? Find(string name)
    {
        _knownOptions.Add(name);
        bool isGiven = _members.TryGetValue(name, out var member) && member.ValueKind != JsonValueKind.Null;
        return isGiven ? member : null;
    }

    private QueryException Wrong(string name, string expected) =>
        new(QueryFault.Invalid, $"The option '{name}' of '{_clause}' must be {expected}.", _position);
}
