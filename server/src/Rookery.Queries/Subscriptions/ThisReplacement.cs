using Rookery.Scripting.Syntax;

namespace Rookery.Queries.Subscriptions;

/// <summary>Replaces the keyword <c>this</c> in a script by a name of the same length.</summary>
internal static class ThisReplacement
{
    /// <summary>The name.</summary>
    public const string Name = "_th_";

    private const string Keyword = "this";

    /// <summary>
    /// Returns the script with the name. Texts, regular expressions, comments and names of members keep the word. An
    /// invalid script is returned as it is, because compiling it names the error.
    /// </summary>
    public static string In(string script)
    {
        char[] result = script.ToCharArray();
        try
        {
            Replace(script, result);
        }
        catch (ScriptException)
        {
            return script;
        }

        return new string(result);
    }

    private static void Replace(string script, Span<char> result)
    {
        var tokens = new Lexer(script, isCSharp: false).ReadAll();
        for (int i = 0; i < tokens.Count; i++)
        {
            var token = tokens[i];
            if (token.Kind == TokenKind.Template)
            {
                ReplaceInValues(token.Text, result.Slice(token.Position + 1, token.Text.Length));
            }
            else if (token.IsWord(Keyword) && !IsMember(tokens, i))
            {
                Name.CopyTo(result[token.Position..]);
            }
        }
    }

    private static void ReplaceInValues(string template, Span<char> result)
    {
        for (int at = 0; at < template.Length; at++)
        {
            if (template[at] == '\\')
            {
                at++;
            }
            else if (template.AsSpan(at).StartsWith("${"))
            {
                int start = at + 2;
                at = TemplateText.FindEndOfValue(template, start);
                Replace(template[start..at], result[start..at]);
            }
        }
    }

    // a.this, or { this: 1 }
    private static bool IsMember(List<Token> tokens, int index)
    {
        if (index == 0)
        {
            return false;
        }

        var before = tokens[index - 1];
        bool mayBeKey = before.Is("{") || before.Is(",");
        return before.Is(".") || before.Is("?.") || (mayBeKey && tokens[index + 1].Is(":"));
    }
}
