using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Parses the lambdas passed to sequence methods.</summary>
internal sealed class LinqLambdaParser(LinqParser parser)
{
    /// <summary>Returns whether a lambda begins here, recognised by its arrow.</summary>
    public bool IsLambda()
    {
        if (parser.Cursor.Current.Kind == TokenKind.Name)
        {
            return parser.Cursor.Ahead(1).Is("=>");
        }

        int ahead = 1;
        while (
            parser.Cursor.Current.Is("(")
            && (parser.Cursor.Ahead(ahead).Kind == TokenKind.Name || parser.Cursor.Ahead(ahead).Is(","))
        )
        {
            ahead++;
        }

        return parser.Cursor.Current.Is("(")
            && parser.Cursor.Ahead(ahead).Is(")")
            && parser.Cursor.Ahead(ahead + 1).Is("=>");
    }

    /// <summary>Parses a lambda.</summary>
    /// <param name="first">The known type of the first parameter; null if unknown.</param>
    /// <param name="second">The known type of the second parameter; null if unknown.</param>
    public LambdaExpression ParseLambda(LinqType? first = null, LinqType? second = null)
    {
        var (parameters, at) = ParseLambdaHead();
        return ParseWith(parameters, shape: null, first, at, second);
    }

    /// <summary>Parses the parameters of a lambda and its arrow; returns them and the lambda's position.</summary>
    public (List<string> Parameters, int Position) ParseLambdaHead()
    {
        int at = parser.Cursor.Current.Position;
        if (parser.Cursor.Current.IsWord("delegate"))
        {
            throw TokenCursor.NotSupported("'delegate': write 'x => …'", at);
        }

        var parameters = new List<string>();
        if (parser.Cursor.TryTake("("))
        {
            while (!parser.Cursor.TryTake(")"))
            {
                var name = parser.Cursor.ExpectName();
                parameters.Add(parser.Cursor.Current.Kind == TokenKind.Name ? parser.Cursor.Take().Text : name.Text);
                if (!parser.Cursor.Current.Is(")"))
                {
                    parser.Cursor.Expect(",");
                }
            }
        }
        else
        {
            parameters.Add(parser.Cursor.ExpectName().Text);
        }

        parser.Cursor.Expect("=>");
        return parser.Cursor.Current.Is("{")
            ? throw TokenCursor.NotSupported("functions of statements", parser.Cursor.Current.Position)
            : (parameters, at);
    }

    /// <summary>Parses the body of a lambda.</summary>
    /// <param name="parameters">The parameters of the lambda; they hide variables of the same names.</param>
    /// <param name="shape">The shape of the first parameter, if it is a group or contains groups; otherwise
    /// null.</param>
    /// <param name="type">The known type of the first parameter; null if unknown.</param>
    /// <param name="at">The position of the lambda in the text.</param>
    /// <param name="second">The known type of the second parameter; null if unknown.</param>
    public LambdaExpression ParseWith(
        List<string> parameters,
        LinqShape? shape,
        LinqType? type,
        int at,
        LinqType? second = null
    )
    {
        (LinqShape? Shape, LinqType? Type)[] hidden =
        [
            .. parameters.Select(name => (parser.Shapes.Find(name), parser.Shapes.Types.Find(name))),
        ];
        for (int index = 0; index < parameters.Count; index++)
        {
            parser.Shapes.Set(parameters[index], index == 0 ? shape : null);
            parser.Shapes.Types.Set(
                parameters[index],
                index switch
                {
                    0 => type,
                    1 => second,
                    _ => null,
                }
            );
        }

        var result = parser.Shapes.Types.Record(
            new LambdaExpression(parameters, parser.Expressions.ParseExpression(), Body: null, at)
        );
        for (int index = parameters.Count - 1; index >= 0; index--)
        {
            parser.Shapes.Set(parameters[index], hidden[index].Shape);
            parser.Shapes.Types.Set(parameters[index], hidden[index].Type);
        }

        return result;
    }
}
