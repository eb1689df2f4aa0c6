namespace Rookery.Indexing.Automatic;

/// <summary>
/// The definition of an automatic index. The name is computed from the content, so cluster members that need the same
/// index define the same one.
/// </summary>
public interface IAutoDefinition
{
    /// <summary>The name of the index.</summary>
    string Name { get; }

    /// <summary>Returns the definition as JSON, as the log holds it. Equal definitions give equal bytes.</summary>
    byte[] ToJson();
}

/// <summary>The definition of an automatic index that is compared with others of its kind.</summary>
/// <typeparam name="TSelf">The kind.</typeparam>
public interface IAutoDefinition<in TSelf> : IAutoDefinition
{
    /// <summary>Whether an index of this definition answers each query that an index of the other one
    /// answers.</summary>
    bool Covers(TSelf other);
}
