using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Scripting.Compiling;

namespace Rookery.Queries.Subscriptions;

/// <summary>
/// A node of a subscription's condition. Conditions without scripts are compiled as those of a query; calls of declared
/// functions run as scripts.
/// </summary>
internal abstract record CriterionNode
{
    /// <summary>Compiles a condition.</summary>
    /// <exception cref="QueryException">A part is not supported.</exception>
    public static CriterionNode Of(Query query, Condition condition) =>
        condition switch
        {
            ScriptCondition script => new ScriptCriterion(
                QueryScripts.ConditionOf(
                    script.CalledOnDocument is { } function ? WithThisAsArgument(query, function) : query,
                    script.Script,
                    script.Position
                ),
                script.Position
            ),
            _ when !HasScript(condition) => new PlainCriterion(
                CompiledQuery.Compile(
                    new Query
                    {
                        Text = query.Text,
                        Source = query.Source,
                        Where = condition,
                    },
                    QueryParameters.None
                )
            ),
            AndCondition and => new AllCriterion([.. and.Conditions.Select(one => Of(query, one))]),
            OrCondition or => new AnyCriterion([.. or.Conditions.Select(one => Of(query, one))]),
            NotCondition not => new NotCriterion(Of(query, not.Inner)),
            _ => throw new QueryException(
                QueryFault.NotSupported,
                "A declared function can be called beside 'and', 'or' and 'not' only, not within another function.",
                condition.Position
            ),
        };

    // 'this' of a function that is called as f.call(o) becomes its first parameter. The parameter's name has as many
    // characters as 'this', so that the positions of errors stay right.
    private static Query WithThisAsArgument(Query query, string function) =>
        query with
        {
            Functions =
            [
                .. query.Functions.Select(declared =>
                    string.Equals(declared.Name, function, StringComparison.Ordinal)
                        ? declared with
                        {
                            Parameters = [ThisReplacement.Name, .. declared.Parameters],
                            Body = declared.Body with { Text = ThisReplacement.In(declared.Body.Text) },
                        }
                        : declared
                ),
            ],
        };

    private static bool HasScript(Condition condition) =>
        condition switch
        {
            ScriptCondition => true,
            AndCondition and => and.Conditions.Any(HasScript),
            OrCondition or => or.Conditions.Any(HasScript),
            NotCondition not => HasScript(not.Inner),
            ExactCondition exact => HasScript(exact.Inner),
            BoostCondition boost => HasScript(boost.Inner),
            IntersectCondition intersect => intersect.Conditions.Any(HasScript),
            _ => false,
        };
}

/// <summary>All nodes must match.</summary>
internal sealed record AllCriterion(IReadOnlyList<CriterionNode> Nodes) : CriterionNode;

/// <summary>At least one node must match.</summary>
internal sealed record AnyCriterion(IReadOnlyList<CriterionNode> Nodes) : CriterionNode;

/// <summary>The inner node must not match.</summary>
internal sealed record NotCriterion(CriterionNode Inner) : CriterionNode;

/// <summary>A condition of a query.</summary>
internal sealed record PlainCriterion(CompiledQuery Compiled) : CriterionNode;

/// <summary>A script, whose result counts as in JavaScript's <c>if</c>.</summary>
internal sealed record ScriptCriterion(ScriptProgram Program, int Position) : CriterionNode;
