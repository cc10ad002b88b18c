// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/** A test that needs an RDMA device; CONTRIBUTING.md describes how these are run. */
@Tag("rdma")
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@interface RdmaTest {}
