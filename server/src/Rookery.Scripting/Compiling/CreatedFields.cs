using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// Translates <c>createField</c> of index maps, and its C# name, to the object that it returns:
/// <c>{ $name, $value, $options }</c>. Maps may also write this object themselves, as in RavenDB.
/// </summary>
internal static class CreatedFields
{
    private const string Name = "$name";
    private const string Value = "$value";
    private const string Options = "$options";

    /// <summary>Returns whether an object literal is such an object.</summary>
    public static bool IsField(ObjectLiteral literal) =>
        literal.Members.Any(static member => member.Name is Name)
        && literal.Members.Any(static member => member.Name is Value)
        && literal.Members.All(static member => member.Name is Name or Value or Options);

    /// <summary>Finds, in an expression, a field whose name depends on the document; null if there is none.</summary>
    public static Expression? FindIn(Expression expression) =>
        expression switch
        {
            ObjectLiteral literal when IsField(literal) => literal,
            CallExpression { Callee: NameExpression { Name: "createField" } callee } => callee,
            _ => expression.Operands.Select(FindIn).FirstOrDefault(static found => found is not null),
        };

    /// <summary>Translates a call; null if the function or the number of its arguments is another.</summary>
    /// <param name="name">The JavaScript name, or the C# name, which begins with a capital.</param>
    /// <param name="arguments">The arguments.</param>
    /// <param name="position">The offset of the call in the text.</param>
    public static Expression? TryTranslate(string name, IReadOnlyList<Expression> arguments, int position) =>
        (name, arguments) switch
        {
            ("createField" or "CreateField", [var field, var value]) => Of(field, value, null, position),
            ("createField", [var field, var value, var options]) => Of(field, value, options, position),
            ("CreateField", [var field, var value, ObjectLiteral options]) => Of(field, value, options, position),
            ("CreateField", [var field, var value, var stored]) => Of(
                field,
                value,
                new ObjectLiteral([new ObjectMember("Storage", Key: null, stored)], position),
                position
            ),
            ("CreateField", [var field, var value, var stored, var analyzed]) => Of(
                field,
                value,
                new ObjectLiteral(
                    [
                        new ObjectMember("Storage", Key: null, stored),
                        new ObjectMember(
                            "Indexing",
                            Key: null,
                            new ConditionalExpression(
                                analyzed,
                                new TextLiteral("Search", position),
                                new TextLiteral("Exact", position),
                                position
                            )
                        ),
                    ],
                    position
                ),
                position
            ),
            _ => null,
        };

    private static ObjectLiteral Of(Expression field, Expression value, Expression? options, int position)
    {
        var members = new List<ObjectMember> { new(Name, Key: null, field), new(Value, Key: null, value) };
        if (options is not null)
        {
            members.Add(new ObjectMember(Options, Key: null, options));
        }

        return new ObjectLiteral(members, position);
    }
}
