using Rookery.Indexing.Values;

namespace Rookery.Fixtures;

/// <summary>Paths of fields from their texts, in which <c>[]</c> enters an array.</summary>
public static class FieldPaths
{
    public static FieldPath Parse(string text) =>
        new(
            [
                .. text.Split('.')
                    .Select(static step => new PathStep(
                        step.Replace("[]", "", StringComparison.Ordinal),
                        step.EndsWith("[]", StringComparison.Ordinal)
                    )),
            ],
            0
        );
}
