using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// Translates functions of index maps that read the lists of a document's counters and attachments. The lists are part
/// of its metadata, so a change of either is a change of the document.
/// </summary>
internal static class MetadataLists
{
    private const string Counters = "@counters";
    private const string Attachments = "@attachments";

    /// <summary>Translates a call; null if the name with so many arguments is none of these functions.</summary>
    /// <param name="name">The JavaScript name, or the C# name, which begins with a capital.</param>
    /// <param name="arguments">The arguments.</param>
    /// <param name="position">The offset of the call in the text.</param>
    public static Expression? TryTranslate(string name, IReadOnlyList<Expression> arguments, int position) =>
        (name, arguments.Count) switch
        {
            ("counterNamesFor", 1) => ListOf(arguments[0], Counters, position),
            ("attachmentsFor" or "loadAttachments", 1) => ListOf(arguments[0], Attachments, position),
            ("CounterNamesFor", 1) => MemberOf(arguments[0], Counters, position),
            ("AttachmentsFor" or "LoadAttachments", 1) => MemberOf(arguments[0], Attachments, position),
            ("loadAttachment" or "LoadAttachment", 2) => AttachmentOf(arguments[0], arguments[1], position),
            _ => null,
        };

    // In C#, null is an empty sequence.
    private static MemberExpression MemberOf(Expression document, string name, int position) =>
        new(new InvokeExpression(ScriptFunction.Metadata, [document], position), name, position);

    private static LogicalExpression ListOf(Expression document, string name, int position) =>
        Or(MemberOf(document, name, position), new ArrayLiteral([], position));

    // [name].map(n => list.find(a => a.Name === n) || list.find(a => lower(a.Name) === lower(n)) || null)[0]: the name
    // is computed once. Documents find attachments by name without regard to case, but may have names that differ only
    // in the case of letters outside of ASCII.
    private static ElementExpression AttachmentOf(Expression document, Expression name, int position)
    {
        const string Name = "\0name";
        const string Attachment = "\0attachment";
        var list = ListOf(document, Attachments, position);
        var wanted = new NameExpression(Name, position);
        var found = new MemberExpression(new NameExpression(Attachment, position), "Name", position);
        var both = Or(
            Or(
                Find(new BinaryExpression(Opcode.StrictEqual, found, wanted, position)),
                Find(new BinaryExpression(Opcode.StrictEqual, Lower(found), Lower(wanted), position))
            ),
            new WordLiteral(Opcode.PushNull, position)
        );
        return new ElementExpression(
            new CallExpression(
                new MemberExpression(new ArrayLiteral([name], position), "map", position),
                [new LambdaExpression([Name], both, Body: null, position)],
                position
            ),
            new NumberLiteral(0, position),
            position
        );

        CallExpression Find(Expression condition) =>
            new(
                new MemberExpression(list, "find", position),
                [new LambdaExpression([Attachment], condition, Body: null, position)],
                position
            );

        InvokeExpression Lower(Expression text) => new(ScriptFunction.ToLowerCase, [text], position);
    }

    private static LogicalExpression Or(Expression first, Expression second) =>
        new(Opcode.JumpKeepingTrue, first, second, first.Position);
}
